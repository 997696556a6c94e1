// How a workload treats what it got: every block is written to, and passes through an empty asm so that the
// compiler cannot see a pair of calls as one that does nothing. The programs are built with
// -fno-builtin-malloc for the same reason. The asm clobbers no memory: what inlining lets the compiler keep
// in registers it may keep.
#pragma once
#include <cstddef>

namespace tarn::bench {

[[gnu::always_inline]] inline void* escape(void* block) {
  asm volatile("" : "+r"(block));
  return block;
}

/// Writes the first byte and, from 128 bytes on, the last one; without a branch, so that random sizes cost no
/// mispredictions that are not the allocator's.
[[gnu::always_inline]] inline void touch(void* block, std::size_t bytes) {
  volatile char* const bytes_of_block = static_cast<char*>(block);
  bytes_of_block[0] = 1;
  bytes_of_block[(bytes - 1) & -static_cast<std::size_t>(bytes >= 128)] = 1;
}

/// A block as every workload takes it: allocated, kept from the optimiser, written to.
template <class Api>
[[gnu::always_inline]] inline void* allocate_used(std::size_t bytes) {
  void* const block = escape(Api::allocate(bytes));
  touch(Api::memory_of(block), bytes);
  return block;
}

}  // namespace tarn::bench
