// How declarations are exported, and how a hit is inlined even without optimisation.
#pragma once
#include "tarn/detail/abi.h"
#include "tarn/detail/c_api.h"

#define TARN_API [[gnu::visibility(TARN_API_VISIBILITY)]]
#define TARN_INLINE [[gnu::always_inline]] inline

#ifndef TARN_CHECK_FREES
#ifdef NDEBUG
#define TARN_CHECK_FREES 0
#else
#define TARN_CHECK_FREES 1
#endif
#endif

namespace TARN_NAMESPACE::detail {

/// Whether hits of pools are calls of the library, which is optimised: a file that is compiled without
/// optimisation would take more instructions for what it inlines than for a call.
#if defined(__OPTIMIZE__)
inline constexpr bool kHitsAreCalls = false;
#else
inline constexpr bool kHitsAreCalls = true;
#endif

/// Whether a free by a pool looks its block up first, so that misuse stops the guilty call (docs/safety.md).
inline constexpr bool kChecksFrees = TARN_CHECK_FREES != 0;

}  // namespace TARN_NAMESPACE::detail
