// How declarations are exported, and how a hit is inlined even without optimisation.
#pragma once
#include "tarn/detail/abi.h"
#include "tarn/detail/c_api.h"

#define TARN_API [[gnu::visibility(TARN_API_VISIBILITY)]]
#define TARN_INLINE [[gnu::always_inline]] inline

// Of a hit that is no template: inlined where it is called; its address is that of the library's function.
// \why under -Og g++ refuses to compile a call of an always_inline function that it finds behind a pointer
// when its inlining is over. clang++ does not.
#if defined(TARN_DEFINES_HITS)  // general/hits.cc
#define TARN_HIT [[gnu::used]] TARN_API inline
#elif defined(__clang__)
#define TARN_HIT TARN_INLINE
#else
#define TARN_HIT [[gnu::always_inline, gnu::gnu_inline]] TARN_API inline
#endif

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
