// Checks the compiler's language standard, and names the namespace of the library's ABI.
#pragma once
#include "tarn/detail/c_api.h"
#include "tarn/version.h"

#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
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
