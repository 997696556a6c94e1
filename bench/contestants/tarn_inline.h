// tarn's general calls, inlined: the size is told at the free, as sized delete does.
#pragma once
#include "tarn/memory_pool.h"

namespace tarn::bench {

struct TarnInline {
  static void* allocate(std::size_t bytes) { return tarn::allocate(bytes); }
  static void deallocate(void* block, std::size_t bytes) { tarn::deallocate(block, bytes); }
  static void free(void* block) { tarn::deallocate(block); }
  static void* reallocate(void* block, std::size_t bytes) { return tarn::reallocate(block, bytes); }
  static std::size_t usable_bytes(void* block) { return tarn::usable_size(block); }
  static void* memory_of(void* block) { return block; }
};

}  // namespace tarn::bench
