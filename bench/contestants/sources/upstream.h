// Where the sources' pools take their memory. Each pool is a template over it, so that a test can count what
// was taken and not given back.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace tarn::bench {

/// Every block of the bench's malloc workloads must be aligned to this.
inline constexpr std::size_t kBlockAlignment = 16;
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kBlockAlignment);

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

/// The system's allocator.
struct SystemMemory {
  static void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  static void deallocate(void* memory, std::size_t bytes) { ::operator delete(memory, bytes); }
};

/// Whole OS pages, zeroed. Neighbours that were allocated apart may be deallocated together.
struct SystemPages {
  static void* allocate(std::size_t bytes) {
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return pages;
  }
  static void deallocate(void* pages, std::size_t bytes) { munmap(pages, bytes); }
};

}  // namespace tarn::bench
