/* How functions of the C interface are declared, for C and C++. */
#pragma once

#ifdef __cplusplus
#define TARN_C_LINKAGE extern "C"
#define TARN_C_NOEXCEPT noexcept
/* Of an inline function that calls the library: each file keeps its own. Of other kinds the loader binds all
 * files' calls to the first file's function, and so to another copy of the library, if that file has one. */
#define TARN_LOCAL [[gnu::visibility("hidden")]]
#else
#define TARN_C_LINKAGE extern
#define TARN_C_NOEXCEPT
#endif

#if defined(TARN_HIDES_API) /* in the archives, which the library's own build makes */
#define TARN_API_VISIBILITY "hidden"
#else
#define TARN_API_VISIBILITY "default"
#endif

#if defined(__GNUC__)
#define TARN_C_ATTRIBUTES(...) __attribute__((__VA_ARGS__))
#else
#define TARN_C_ATTRIBUTES(...)
#endif
#define TARN_C_API TARN_C_LINKAGE TARN_C_ATTRIBUTES(visibility(TARN_API_VISIBILITY))
