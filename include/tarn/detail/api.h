// Every C++ header of the library includes this one first: it has the version and checks the compiler's
// language standard, and says how declarations are exported, and how a hit is inlined even without
// optimisation.
#pragma once
#include "tarn/detail/c_api.h"
#include "tarn/version.h"

#if __cplusplus < 202002L
#error tarn needs C++20: compile with -std=c++20 or later
// Names no existing file, so that the compiler stops here instead of printing a hundred unclear errors.
#include <tarn-needs-C++20>
#endif

// The ABI's number is in the name of everything a program inlines or links, so that headers that do not match
// the library cause a link error.
// TARN_HARDENED, which the hardened library's target defines, changes it too.
#ifndef TARN_HARDENED
#define TARN_HARDENED 0
#endif
#define TARN_NAMESPACE_OF_0(number) tarn::inline abi##number
#define TARN_NAMESPACE_OF_1(number) tarn::inline abi##number##_hardened
#define TARN_NAMESPACE_OF_(number, hardened) TARN_NAMESPACE_OF_##hardened(number)
#define TARN_NAMESPACE_OF(number, hardened) TARN_NAMESPACE_OF_(number, hardened)
#define TARN_NAMESPACE TARN_NAMESPACE_OF(TARN_ABI, TARN_HARDENED)

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

/// Whether this is the hardened library (detail/hardening.h).
inline constexpr bool kIsHardened = TARN_HARDENED != 0;

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
