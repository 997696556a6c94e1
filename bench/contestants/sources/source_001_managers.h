// The two hand-made managers that source 001 compared the low-fragmentation heap with, written anew. The
// source says that they serve shipped game servers and differ in their synchronisation only: an interlocked
// singly linked list, and a locked stack. It says nothing else of them.
//
// Filled in: the buckets are the 128 of the low-fragmentation heap; larger blocks come from the system. A
// header of 16 bytes names the bucket and holds the link of a free block, apart from what the user writes, so
// that a thread that looks at a block which another has just taken reads no user's bytes. An empty bucket
// grows by a chunk of 64 KiB, or of four blocks, which is never given back before the manager ends.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>

#include "upstream.h"

namespace tarn::bench::source_001 {

struct alignas(kBlockAlignment) Header {
  std::atomic<Header*> next = nullptr;
  std::size_t bucket = 0;  // or, above the last bucket, the bytes of the block
};

/// The interlocked list. A tag beside the address of the first block changes with each pop, so that a pop
/// fails when others have popped and pushed in between. It has 20 bits: an address has 48, the last four of
/// them 0.
class InterlockedList {
 public:
  void push(Header* first, Header* last) {
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    do {
      last->next.store(block_of(head), std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(head, with_block(head, first), std::memory_order_release,
                                          std::memory_order_relaxed));
  }

  Header* pop() {
    std::uint64_t head = head_.load(std::memory_order_acquire);
    while (Header* const block = block_of(head)) {
      Header* const next = block->next.load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(head, with_block(head + kTag, next), std::memory_order_acquire))
        return block;
    }
    return nullptr;
  }

 private:
  static constexpr std::uint64_t kTag = std::uint64_t{1} << 44;

  static Header* block_of(std::uint64_t head) {
    return reinterpret_cast<Header*>(head % kTag * kBlockAlignment);
  }
  static std::uint64_t with_block(std::uint64_t head, Header* block) {
    return head / kTag * kTag + reinterpret_cast<std::uintptr_t>(block) / kBlockAlignment;
  }

  std::atomic<std::uint64_t> head_ = 0;
};

/// The locked stack.
class LockedStack {
 public:
  void push(Header* first, Header* last) {
    const std::lock_guard lock(mutex_);
    last->next.store(top_, std::memory_order_relaxed);
    top_ = first;
  }

  Header* pop() {
    const std::lock_guard lock(mutex_);
    Header* const block = top_;
    if (block != nullptr) top_ = block->next.load(std::memory_order_relaxed);
    return block;
  }

 private:
  std::mutex mutex_;
  Header* top_ = nullptr;
};

inline constexpr std::size_t kBuckets = 128;
inline constexpr std::size_t kLargest = 16'384;

/// 32 buckets of 8 bytes up to 256, then 16 for each doubling.
constexpr std::size_t bucket_of(std::size_t bytes) {
  if (bytes <= 256) return bytes == 0 ? 0 : (bytes - 1) / 8;
  const auto doubling = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 9;  // 0: 257 to 512
  return 32 + 16 * doubling + (bytes - 1 - (std::size_t{256} << doubling)) / (std::size_t{16} << doubling);
}

constexpr std::size_t bytes_of(std::size_t bucket) {
  if (bucket < 32) return 8 * (bucket + 1);
  const std::size_t doubling = (bucket - 32) / 16;
  return (std::size_t{256} << doubling) + (bucket % 16 + 1) * (std::size_t{16} << doubling);
}

static_assert(bucket_of(17) == 2 && bytes_of(2) == 24, "the source's example, its buckets counted from 1");
static_assert(bucket_of(kLargest) == kBuckets - 1 && bytes_of(kBuckets - 1) == kLargest);

template <class FreeBlocks, class Upstream = SystemMemory>
class Manager {
 public:
  Manager() = default;
  ~Manager() {
    while (chunks_ != nullptr) {
      const Chunk chunk = *chunks_;
      Upstream::deallocate(chunks_, chunk.bytes);
      chunks_ = chunk.next;
    }
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  void* allocate(std::size_t bytes) {
    if (bytes > kLargest) return allocate_large(bytes);
    const std::size_t bucket = bucket_of(bytes);
    Header* block = free_[bucket].blocks.pop();
    if (block == nullptr) block = grow(bucket);
    return block + 1;
  }

  void deallocate(void* block) {
    Header* const header = static_cast<Header*>(block) - 1;
    if (header->bucket < kBuckets)
      free_[header->bucket].blocks.push(header, header);
    else
      Upstream::deallocate(header, sizeof(Header) + header->bucket);
  }

 private:
  static constexpr std::size_t kChunkBytes = 64 * 1024;
  static constexpr std::size_t kFewestBlocks = 4;

  struct alignas(kBlockAlignment) Chunk {
    Chunk* next;
    std::size_t bytes;
  };
  struct alignas(64) Bucket {
    FreeBlocks blocks;
    std::mutex growing;
  };

  static void* allocate_large(std::size_t bytes) {
    return new (Upstream::allocate(sizeof(Header) + bytes)) Header{nullptr, bytes} + 1;
  }

  /// A block of the bucket that had none; a chunk's others are pushed in one step.
  Header* grow(std::size_t bucket) {
    const std::lock_guard lock(free_[bucket].growing);
    if (Header* const block = free_[bucket].blocks.pop()) return block;  // of another thread's chunk
    const std::size_t stride = sizeof(Header) + rounded_up(bytes_of(bucket), kBlockAlignment);
    const std::size_t count = std::max(kFewestBlocks, (kChunkBytes - sizeof(Chunk)) / stride);
    char* const memory = take_chunk(sizeof(Chunk) + count * stride);
    Header* first = nullptr;
    Header* last = nullptr;
    for (std::size_t i = count; i-- > 1;) {
      first = new (memory + i * stride) Header{first, bucket};
      if (last == nullptr) last = first;
    }
    free_[bucket].blocks.push(first, last);
    return new (memory) Header{nullptr, bucket};
  }

  char* take_chunk(std::size_t bytes) {
    void* const memory = Upstream::allocate(bytes);
    const std::lock_guard lock(chunks_mutex_);
    chunks_ = new (memory) Chunk{chunks_, bytes};
    return reinterpret_cast<char*>(chunks_ + 1);
  }

  std::array<Bucket, kBuckets> free_;
  std::mutex chunks_mutex_;
  Chunk* chunks_ = nullptr;
};

}  // namespace tarn::bench::source_001
