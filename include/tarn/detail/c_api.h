/* How functions of the C interface are declared, for C and C++. */
#pragma once
#include "tarn/detail/system.h"

#ifdef __cplusplus
#define TARN_C_LINKAGE extern "C"
#define TARN_C_NOEXCEPT noexcept
#else
#define TARN_C_LINKAGE extern
#define TARN_C_NOEXCEPT
#endif

#if defined(TARN_HIDES_API) /* in the archives, which the library's own build makes */
#define TARN_API_VISIBILITY "hidden"
#else
#define TARN_API_VISIBILITY "default"
#endif
