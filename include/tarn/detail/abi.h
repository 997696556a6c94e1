// What every C++ header of the library comes to first: the version, and whether the compiler's dialect will
// do.
#pragma once
#include "tarn/version.h"

#if __cplusplus < 202002L
#error tarn needs C++20: compile with -std=c++20 or later
// Names no file, so that the compiler stops here, before a hundred errors that say less.
#include <tarn-needs-C++20>
#endif

// The ABI's number is in the name of everything a program inlines or links against, so that headers which do
// not match the library are a link error.
#define TARN_NAMESPACE_OF_(number) tarn::inline abi##number
#define TARN_NAMESPACE_OF(number) TARN_NAMESPACE_OF_(number)
#define TARN_NAMESPACE TARN_NAMESPACE_OF(TARN_ABI)
