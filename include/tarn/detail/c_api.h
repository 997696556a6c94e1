/* How functions of the C interface are declared, for C and C++. */
#pragma once

#ifdef __cplusplus
#define TARN_C_LINKAGE extern "C"
#define TARN_C_NOEXCEPT noexcept
#else
#define TARN_C_LINKAGE extern
#define TARN_C_NOEXCEPT
#endif

#if defined(__GNUC__)
#define TARN_C_ATTRIBUTES(...) __attribute__((__VA_ARGS__))
#else
#define TARN_C_ATTRIBUTES(...)
#endif
#define TARN_C_API TARN_C_LINKAGE TARN_C_ATTRIBUTES(visibility("default"))
