// The pools of source 000, `Memory` and `MemoryPool`, written anew from the description.
//
// The source's: 48 pools (32 to 1024 bytes by 32, to 2048 by 128, to 4096 by 256), a table from size to pool,
// a header with the size before each block, a mutex and an array of free blocks for each pool, held also
// while the system is asked for one more block. Larger blocks come from the system. A block that is freed
// stays in its pool.
// Filled in: the source's header has 4 bytes, which leaves the blocks behind it unaligned. Here it has 16, so
// that blocks are aligned to the 16 bytes that the source promises; each of its eight sizes is still served
// by the same pool (a header of either size lifts it into the next one), and 4096 bytes still by the system.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "upstream.h"

namespace tarn::bench::source_000 {

template <class Upstream = SystemMemory>
class SizeClassPools {
 public:
  SizeClassPools() {
    std::size_t pool = 0, bytes = kSteps[0].bytes;
    for (std::size_t whole = 0; whole <= kLargest; ++whole) {
      if (whole > bytes) {
        ++pool;
        bytes += step_after(bytes);
      }
      pool_of_[whole] = static_cast<std::uint8_t>(pool);
      pools_[pool].set_block_bytes(bytes);
    }
  }

  void* allocate(std::size_t bytes) {
    const std::size_t whole = bytes + sizeof(Header);
    void* const memory = whole <= kLargest ? pools_[pool_of_[whole]].allocate() : Upstream::allocate(whole);
    return new (memory) Header{whole} + 1;
  }

  void deallocate(void* block) {
    Header* const header = static_cast<Header*>(block) - 1;
    const std::size_t whole = header->whole_bytes;
    if (whole <= kLargest)
      pools_[pool_of_[whole]].deallocate(header);
    else
      Upstream::deallocate(header, whole);
  }

 private:
  struct alignas(kBlockAlignment) Header {
    std::size_t whole_bytes;  // with the header
  };

  class Pool {
   public:
    Pool() = default;
    ~Pool() {
      for (void* block : free_) Upstream::deallocate(block, block_bytes_);
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    void set_block_bytes(std::size_t bytes) { block_bytes_ = bytes; }

    void* allocate() {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) return Upstream::allocate(block_bytes_);
      void* const block = free_.back();
      free_.pop_back();
      return block;
    }

    void deallocate(void* block) {
      const std::lock_guard lock(mutex_);
      free_.push_back(block);
    }

   private:
    std::size_t block_bytes_ = 0;
    std::mutex mutex_;
    std::vector<void*> free_;
  };

  struct Step {
    std::size_t bytes;
    std::size_t up_to;
  };
  static constexpr Step kSteps[] = {{32, 1024}, {128, 2048}, {256, 4096}};
  static constexpr std::size_t kLargest = 4096;
  static constexpr std::size_t kPools = 48;

  static std::size_t step_after(std::size_t bytes) {
    const Step* step = kSteps;
    while (bytes >= step->up_to) ++step;
    return step->bytes;
  }

  std::array<std::uint8_t, kLargest + 1> pool_of_;
  std::array<Pool, kPools> pools_;
};

}  // namespace tarn::bench::source_000
