// The functions of tarn.h as a pool of the suite.
#pragma once
#include "tarn/tarn.h"

namespace tarn::test {

struct CApi {
  static void* allocate(std::size_t size) { return tarn_allocate(size); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    return tarn_allocate_aligned(size, alignment);
  }
  static void* allocate_zeroed(std::size_t count, std::size_t size) {
    return tarn_allocate_zeroed(count, size);
  }
  static void* reallocate(void* block, std::size_t size) { return tarn_reallocate(block, size); }
  static void deallocate(void* block) { tarn_deallocate(block); }
  static void deallocate(void* block, std::size_t size) { tarn_deallocate_sized(block, size); }
  static void deallocate(void* block, std::size_t size, std::size_t alignment) {
    tarn_deallocate_aligned_sized(block, size, alignment);
  }
  static std::size_t usable_size(const void* block) { return tarn_usable_size(block); }
  static std::size_t good_size(std::size_t size) { return tarn_good_size(size); }
  static std::size_t trim(std::size_t keep = 0) { return tarn_trim(keep); }
  static std::size_t allocate_batch(std::size_t size, std::size_t count, void** blocks) {
    return tarn_allocate_batch(size, count, blocks);
  }
  static void deallocate_batch(void* const* blocks, std::size_t count) {
    tarn_deallocate_batch(blocks, count);
  }
};

}  // namespace tarn::test
