// Aligned blocks of libc's malloc, or of its like.
#pragma once
#include <malloc.h>

#include <cstddef>
#include <cstdlib>

namespace tarn::internal::os {

#if defined(_WIN32)
// These blocks are not free()'s. \returns nullptr when it is refused.
inline void* allocate_by_malloc(std::size_t bytes, std::size_t alignment) {
  return _aligned_malloc(bytes, alignment);
}
inline void* reallocate_by_malloc(void* block, std::size_t bytes) {
  return _aligned_realloc(block, bytes, sizeof(void*) * 2);
}
inline void free_by_malloc(void* block) { _aligned_free(block); }
/// Asked only of blocks of a malloc in our place, which no program of Windows has.
inline std::size_t usable_by_malloc(void* /*block*/) { return 0; }
#else
/// \param alignment a power of two, a pointer's size at least. \returns nullptr when it is refused.
inline void* allocate_by_malloc(std::size_t bytes, std::size_t alignment) {
  void* block = nullptr;
  return posix_memalign(&block, alignment, bytes) == 0 ? block : nullptr;
}
inline void* reallocate_by_malloc(void* block, std::size_t bytes) { return std::realloc(block, bytes); }
inline void free_by_malloc(void* block) { std::free(block); }
inline std::size_t usable_by_malloc(void* block) { return malloc_usable_size(block); }
#endif

}  // namespace tarn::internal::os
