// Every C++ header of the library includes this one first: it has the version and checks the compiler's
// language standard, says how declarations are exported and how a hit is inlined even without optimisation,
// and has what each compiler says in its own way (compiler.h).
#pragma once
#include "tarn/detail/compiler.h"

#ifndef TARN_CHECK_FREES
#ifdef NDEBUG
#define TARN_CHECK_FREES 0
#else
#define TARN_CHECK_FREES 1
#endif
#endif

namespace TARN_NAMESPACE::detail {

/// Whether this is the hardened library (detail/hardening.h).
inline constexpr bool kIsHardened = TARN_HARDENED != 0;

/// Whether hits of pools are calls of the library, which is optimised: a file that is compiled without
/// optimisation would take more instructions for what it inlines than for a call.
#if defined(TARN_IS_OPTIMISED)
inline constexpr bool kHitsAreCalls = false;
#else
inline constexpr bool kHitsAreCalls = true;
#endif

/// Whether a free by a pool looks its block up first, so that misuse stops the guilty call (docs/safety.md).
inline constexpr bool kChecksFrees = TARN_CHECK_FREES != 0;

}  // namespace TARN_NAMESPACE::detail
