// malloc and free, whoever provides them.
#pragma once
#include <malloc.h>

#include <cstdlib>

namespace tarn::bench {

struct Malloc {
  static void* allocate(std::size_t bytes) { return std::malloc(bytes); }
  static void deallocate(void* block, std::size_t) { std::free(block); }
  static void free(void* block) { std::free(block); }
  static void* reallocate(void* block, std::size_t bytes) { return std::realloc(block, bytes); }
  static std::size_t usable_bytes(void* block) { return malloc_usable_size(block); }
  static void* memory_of(void* block) { return block; }
};

}  // namespace tarn::bench
