/* Exports and variables of a thread where files are ELF. For C and C++. */
#pragma once

#if defined(__GNUC__)
#define TARN_C_ATTRIBUTES(...) __attribute__((__VA_ARGS__))
#else
#define TARN_C_ATTRIBUTES(...)
#endif

#define TARN_API [[gnu::visibility(TARN_API_VISIBILITY)]]
/* Of an inline function that calls the library: each file keeps its own. Of other kinds the loader binds all
 * files' calls to the first file's function, and so to another copy of the library, if that file has one. */
#define TARN_LOCAL [[gnu::visibility("hidden")]]
#define TARN_C_API TARN_C_LINKAGE TARN_C_ATTRIBUTES(visibility(TARN_API_VISIBILITY))

/* A variable that each thread has: declared, defined, used, its address, and what a pointer leads to.
 * \why initial-exec: any other model costs a call. */
#define TARN_THREAD_VARIABLE(export, type, name) \
  [[gnu::tls_model("initial-exec")]] export extern constinit thread_local type name
#define TARN_DEFINE_THREAD_VARIABLE(type, name) \
  [[gnu::tls_model("initial-exec")]] constinit thread_local type name
#define TARN_OF_THREAD(name) name
#define TARN_POINTER_OF_THREAD(scope, name) scope::name

#define TARN_HEADER_OF_IOVEC <sys/uio.h>

/* Whether the process has had one thread only, as libc knows it. */
#ifdef __cplusplus
#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define TARN_IS_SINGLE_THREADED (__libc_single_threaded != 0)
#else
/* Before glibc 2.32. What is made with its headers asks a newer libc all the same. */
extern "C" [[gnu::weak]] char __libc_single_threaded;
#define TARN_IS_SINGLE_THREADED (&__libc_single_threaded != nullptr && __libc_single_threaded != 0)
#endif
#endif
