// The allocators under test behind one face. Each is stateless.
#pragma once
#include <malloc.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ostream>

#if !defined(TARN_TEST_MALLOC)
#include "tarn/memory_pool.h"
#endif

namespace tarn::test {

#if defined(TARN_TEST_MALLOC)
/// malloc and its kin: the system's as the control, or ours when it is preloaded.
struct Malloc {
  static void* allocate(std::size_t size) { return std::malloc(size); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    void* block = nullptr;
    if (alignment < sizeof(void*)) alignment = sizeof(void*);
    const int error = posix_memalign(&block, alignment, size);
    if (error != 0) errno = error;
    return error == 0 ? block : nullptr;
  }
  static void* allocate_zeroed(std::size_t count, std::size_t size) { return std::calloc(count, size); }
  static void* reallocate(void* block, std::size_t size) { return std::realloc(block, size); }
  static void deallocate(void* block) { std::free(block); }
  static void deallocate(void* block, std::size_t) { std::free(block); }
  static void deallocate(void* block, std::size_t, std::size_t) { std::free(block); }
  static std::size_t usable_size(void* block) { return malloc_usable_size(block); }
};

using PoolUnderTest = Malloc;
#else
using PoolUnderTest = MemoryPool;
#endif

}  // namespace tarn::test
