// Every C++ header of the library includes this one first: it has the version and checks the compiler's
// language standard.
#pragma once
#include "tarn/version.h"

#if __cplusplus < 202002L
#error tarn needs C++20: compile with -std=c++20 or later
// Names no existing file, so that the compiler stops here instead of printing a hundred unclear errors.
#include <tarn-needs-C++20>
#endif

// The ABI's number is in the name of everything a program inlines or links, so that headers that do not match
// the library cause a link error.
#define TARN_NAMESPACE_OF_(number) tarn::inline abi##number
#define TARN_NAMESPACE_OF(number) TARN_NAMESPACE_OF_(number)
#define TARN_NAMESPACE TARN_NAMESPACE_OF(TARN_ABI)
