// The one door through which every workload allocates. The same sources become two programs:
//
// bench_malloc   calls malloc and free; LD_PRELOAD chooses the allocator.
// bench_inline   (TARN_BENCH_INLINE) calls tarn's inlined fast path, with the size at the free, as sized
// delete does.
//
// Each block passes through an empty asm so that the compiler cannot see a pair as one that does nothing; the
// file is built with -fno-builtin-malloc for the same reason. The asm clobbers no memory: what inlining lets
// the compiler keep in registers it may keep.
#pragma once
#include <cstddef>

#ifdef TARN_BENCH_INLINE
#include "tarn/memory_pool.h"
#else
#include <cstdlib>
#endif

namespace tarn::bench {

[[gnu::always_inline]] inline void* escape(void* block) {
  asm volatile("" : "+r"(block));
  return block;
}

#ifdef TARN_BENCH_INLINE
[[gnu::always_inline]] inline void* allocate(std::size_t bytes) { return escape(tarn::allocate(bytes)); }
[[gnu::always_inline]] inline void deallocate(void* block, std::size_t bytes) {
  tarn::deallocate(block, bytes);
}
inline void* reallocate(void* block, std::size_t bytes) { return escape(tarn::reallocate(block, bytes)); }
#else
[[gnu::always_inline]] inline void* allocate(std::size_t bytes) { return escape(std::malloc(bytes)); }
[[gnu::always_inline]] inline void deallocate(void* block, std::size_t) { std::free(block); }
inline void* reallocate(void* block, std::size_t bytes) { return escape(std::realloc(block, bytes)); }
#endif

template <std::size_t Bytes>
[[gnu::always_inline]] inline void* allocate_constant() {
  return allocate(Bytes);
}

template <std::size_t Bytes>
[[gnu::always_inline]] inline void deallocate_constant(void* block) {
  deallocate(block, Bytes);
}

/// Writes the first byte and, from 128 bytes on, the last one; without a branch, so that random sizes cost no
/// mispredictions that are not the allocator's.
[[gnu::always_inline]] inline void touch(void* block, std::size_t bytes) {
  volatile char* const bytes_of_block = static_cast<char*>(block);
  bytes_of_block[0] = 1;
  bytes_of_block[(bytes - 1) & -static_cast<std::size_t>(bytes >= 128)] = 1;
}

}  // namespace tarn::bench
