// A program that misuses memory says first, on standard output, the line it must die with on standard error.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Hides a pointer from the compiler, which would see through the misuse.
template <typename Pointer>
Pointer opaque(Pointer pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer;
}

inline void must_die_with(const char* what, const void* address) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  printf("tarn: %s: %p\n", what, address);
}

/// \returns what a program dies of: what a look at each free finds, with the option check, is found later, or
/// as something else, by default.
inline const char* checked_or(const char* checked, const char* by_default) {
  return getenv("TARN_CHECK") != NULL ? checked : by_default;
}

/// Frees enough other blocks of a size for every magazine to be flushed, so that what is wrong reaches its
/// slab.
inline void free_many_others(size_t size) {
  constexpr int kBlocks = 20000;
  void** const blocks = static_cast<void**>(malloc(kBlocks * sizeof(void*)));
  for (int i = 0; i < kBlocks; ++i) blocks[i] = malloc(size);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  free(blocks);
}
