/* Exports and variables of a thread where files are PE. For C and C++.
 *
 * A thread's variables lie in a block that the loader makes for each file and each thread, those that run
 * already too, from the file's section .tls: as MSVC and clang compile thread_local, which g++ 12 makes a
 * call of, at each use. The way to one is the thread's table of blocks, the file's number in it, and the
 * variable's place in the section.
 * Source: Microsoft's PE format, 5.7 "The .tls section". */
#pragma once

#define TARN_API
#define TARN_LOCAL
#if defined(TARN_EXPORTS_API) /* in the DLL, which has the C API */
#define TARN_C_API TARN_C_LINKAGE __declspec(dllexport)
#else
#define TARN_C_API TARN_C_LINKAGE
#endif

#define TARN_HEADER_OF_IOVEC "tarn/detail/iovec.h"
#define TARN_IS_SINGLE_THREADED false /* the system does not tell */

#if defined(_MSC_VER)
#define TARN_C_ATTRIBUTES(...)
#define TARN_THREAD_VARIABLE(export, type, name) export extern __declspec(thread) type name
#define TARN_DEFINE_THREAD_VARIABLE(type, name) __declspec(thread) constinit type name
#define TARN_OF_THREAD(name) name
#define TARN_POINTER_OF_THREAD(scope, name) scope::name
#else
#define TARN_C_ATTRIBUTES(...) __attribute__((__VA_ARGS__))
#define TARN_THREAD_VARIABLE(export, type, name) \
  [[gnu::section(".tls$TARN")]] export extern type name asm("tarn_of_thread_" #name)
#define TARN_DEFINE_THREAD_VARIABLE(type, name) \
  [[gnu::section(".tls$TARN"), gnu::used]] constinit type name asm("tarn_of_thread_" #name)
#define TARN_OF_THREAD(name)                                                                            \
  (*__extension__({                                                                                     \
    decltype(&name) place;                                                                              \
    asm("leaq tarn_of_thread_" #name "@SECREL32(%1), %0" : "=r"(place) : "r"(tarn::block_of_thread())); \
    place;                                                                                              \
  }))
/* Read anew each time: another thread may change it. */
#define TARN_POINTER_OF_THREAD(scope, name)                       \
  __extension__({                                                 \
    decltype(+scope::name) pointer;                               \
    asm volatile("movq tarn_of_thread_" #name "@SECREL32(%1), %0" \
                 : "=r"(pointer)                                  \
                 : "r"(tarn::block_of_thread()));                 \
    pointer;                                                      \
  })

#ifdef __cplusplus
namespace tarn {

[[gnu::always_inline]] inline void* block_of_thread() {
  void *blocks, *block;
  unsigned long long number;
  asm volatile("movq %%gs:0x58, %0" : "=r"(blocks));  // anew each time: a fiber may be in another thread now
  asm("movl _tls_index(%%rip), %k0" : "=r"(number));
  asm("movq (%1,%2,8), %0" : "=r"(block) : "r"(blocks), "r"(number));
  return block;
}

}  // namespace tarn
#endif
#endif
