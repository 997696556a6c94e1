// Cases of misuse, each MISUSE(name) { ... }. A case says first, on standard output, the line it must die
// with on standard error. Each file of programs/ is a program that runs the one case its argument names;
// before the case it makes nothing but the list of its cases, so that none meets what another has done.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thread>

#include "tarn/detail/api.h"

struct MisuseCase {
  MisuseCase(const char* its_name, void (*its_work)()) : name(its_name), run(its_work), before(newest) {
    newest = this;
  }

  const char* name;
  void (*run)();
  const MisuseCase* before;  // the one that the file has before it
  static inline const MisuseCase* newest = nullptr;
};

/// Begins a case. CMakeLists.txt finds the tests' names by this word at the begin of a line.
#define MISUSE(name)                                   \
  static void name();                                  \
  static const MisuseCase case_of_##name(#name, name); \
  static void name()

/// Hides a pointer from the compiler, which would see through the misuse.
template <typename Pointer>
Pointer opaque(Pointer pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer;
}

inline void must_die_with(const char* what, const void* address) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  printf("tarn: %s: 0x%llx\n", what, reinterpret_cast<unsigned long long>(address));
}

/// \returns what a program dies of: what a look at each free finds, with the option check and in the hardened
/// library, is found later, or as something else, by default.
inline const char* checked_or(const char* checked, const char* by_default) {
  return TARN_HARDENED != 0 || getenv("TARN_CHECK") != NULL ? checked : by_default;
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

/// Threads take turns to use a pool, until it gives them magazines.
template <typename Use>
void take_turns(Use use) {
  for (int turn = 0; turn < 64; ++turn) {
    use();
    std::thread(use).join();
  }
}
