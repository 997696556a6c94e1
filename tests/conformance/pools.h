// Every pool behind the suite's stateless face, and what a pool by nature does not offer.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "support/sizes.h"
#include "tarn/allocator.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/memory_resource.h"
#include "tarn/object_pool.h"
#include "tarn/pool_pointers.h"
#include "tarn/sensitive.h"

namespace tarn::test {

enum class Contents : bool { kPlain, kSensitive };

/// A pool of blocks of one size cannot serve all: a set of them does, one per power of two. `Pools` has
/// allocate(index) and so on, where the blocks of pool i are 8 << i bytes.
template <typename Pools>
struct PoolPerPowerOfTwo {
  static constexpr std::size_t kLeast = 8, kLargest = 256 * kKiB;
  static constexpr unsigned kCount = 16;

  static void* allocate(std::size_t size) { return allocate(size, 1); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    if (size > kLargest || alignment > Pools::kLargestAlignment) return refuse();
    return Pools::instance().allocate(index_for(std::max(size, alignment)));
  }
  static void* reallocate(void* block, std::size_t size) {
    return block == nullptr && size <= kLargest ? allocate(size) : tarn::reallocate(block, size);
  }
  static void deallocate(void* block) {
    if (block == nullptr) return;
    // What was reallocated is the general pool's, or a pool's of another size.
    const std::size_t usable = tarn::usable_size(block);
    if (!std::has_single_bit(usable) || usable > kLargest ||
        !Pools::instance().deallocate(index_for(usable), block))
      tarn::deallocate(block);
  }
  static void deallocate(void* block, std::size_t) { deallocate(block); }
  static void deallocate(void* block, std::size_t, std::size_t) { deallocate(block); }
  static std::size_t usable_size(const void* block) { return tarn::usable_size(block); }
  static std::size_t allocate_batch(std::size_t size, std::size_t count, void** blocks) {
    if (size <= kLargest) return Pools::instance().allocate_batch(index_for(size), count, blocks);
    refuse();
    return 0;
  }
  static void deallocate_batch(void* const* blocks, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) deallocate(blocks[i]);
  }
  static void trim() { tarn::trim(); }

 private:
  static unsigned index_for(std::size_t bytes) {
    return static_cast<unsigned>(std::countr_zero(std::bit_ceil(std::max(bytes, kLeast)))) - 3;
  }
  static void* refuse() {
    errno = ENOMEM;
    return nullptr;
  }
};

/// Fixed pools, each aligned to its size.
template <typename Pool, Contents kContents = Contents::kPlain>
class FixedPools {
 public:
  static constexpr std::size_t kLargestAlignment = 65536;
  static FixedPools& instance() {
    static FixedPools pools;
    return pools;
  }
  void* allocate(unsigned index) { return pools_[index]->allocate(); }
  std::size_t allocate_batch(unsigned index, std::size_t count, void** blocks) {
    return pools_[index]->allocate_batch(count, blocks);
  }
  bool deallocate(unsigned index, void* block) {
    if (!pools_[index]->owns(block)) return false;
    pools_[index]->deallocate(block);
    return true;
  }

 private:
  FixedPools() {
    for (unsigned i = 0; i < 16; ++i)
      pools_[i] = std::make_unique<Pool>(
          FixedPoolOptions{.block_bytes = std::size_t{8} << i,
                           .alignment = std::min(std::size_t{8} << i, kLargestAlignment),
                           .sensitive = kContents == Contents::kSensitive});
  }
  std::unique_ptr<Pool> pools_[16];
};

/// Object pools of bytes, each aligned to its size up to what a type's alignment may be there.
template <Contents kContents>
class ObjectPools {
 public:
  static constexpr std::size_t kLargestAlignment = 4096;
  static ObjectPools& instance() {
    static ObjectPools pools;
    return pools;
  }
  void* allocate(unsigned index) { return faces_[index].allocate(); }
  std::size_t allocate_batch(unsigned index, std::size_t count, void** blocks) {
    for (std::size_t i = 0; i < count; ++i) blocks[i] = allocate(index);
    return count;
  }
  // The general pool's blocks of a power of two look the same; it takes both, so that is left to it at times.
  bool deallocate(unsigned, void*) { return false; }

 private:
  template <std::size_t kBytes>
  struct alignas(std::min(kBytes, kLargestAlignment)) Object {
    char bytes[kBytes];
  };
  template <std::size_t kBytes>
  static void* allocate_object() {
    static ObjectPool<Object<kBytes>> pool(
        {.at_end = AtPoolEnd::kHandOver, .sensitive = kContents == Contents::kSensitive});
    return pool.try_create();
  }
  struct Face {
    void* (*allocate)();
  };
  template <std::size_t... kIndices>
  ObjectPools(std::index_sequence<kIndices...>)
      : faces_{{allocate_object<(std::size_t{8} << kIndices)>}...} {}
  ObjectPools() : ObjectPools(std::make_index_sequence<16>()) {}

  Face faces_[16];
};

using FixedBlocks = PoolPerPowerOfTwo<FixedPools<FixedPool>>;
using SharedFixedBlocks = PoolPerPowerOfTwo<FixedPools<SharedFixedPool>>;
using TypedBlocks = PoolPerPowerOfTwo<ObjectPools<Contents::kPlain>>;
using SensitiveFixedBlocks = PoolPerPowerOfTwo<FixedPools<FixedPool, Contents::kSensitive>>;
using SensitiveSharedBlocks = PoolPerPowerOfTwo<FixedPools<SharedFixedPool, Contents::kSensitive>>;
using SensitiveTypedBlocks = PoolPerPowerOfTwo<ObjectPools<Contents::kSensitive>>;

/// One heap. `Memory` gives its options.
template <typename Memory>
struct HeapBlocks {
  static Heap& heap() {
    static Heap heap(Memory::options());
    return heap;
  }
  static void* allocate(std::size_t size) { return heap().allocate(size); }
  static void* allocate(std::size_t size, std::size_t alignment) { return heap().allocate(size, alignment); }
  static void* allocate_zeroed(std::size_t count, std::size_t size) {
    return heap().allocate_zeroed(count, size);
  }
  static void* reallocate(void* block, std::size_t size) { return heap().reallocate(block, size); }
  static void deallocate(void* block) { heap().deallocate(block); }
  static void deallocate(void* block, std::size_t size) { heap().deallocate(block, size); }
  static void deallocate(void* block, std::size_t size, std::size_t alignment) {
    heap().deallocate(block, size, alignment);
  }
  static std::size_t usable_size(const void* block) { return heap().usable_size(block); }
};

struct LibraryPages {
  static HeapOptions options() { return {.name = "conformance"}; }
};
struct SensitivePages {
  static HeapOptions options() { return {.name = "sensitive conformance", .sensitive = true}; }
};
struct CallersBuffer {
  static HeapOptions options() {
    constexpr std::size_t kBytes = 512 * kMiB;
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return {.name = "conformance in a buffer", .buffer = memory, .buffer_bytes = kBytes};
  }
};

/// The general pool's functions inside a heap's scope.
template <typename Memory>
struct ScopedBlocks {
  static void* allocate(std::size_t size) {
    return in_scope([&] { return tarn::allocate(size); });
  }
  static void* allocate(std::size_t size, std::size_t alignment) {
    return in_scope([&] { return tarn::allocate(size, alignment); });
  }
  static void* allocate_zeroed(std::size_t count, std::size_t size) {
    return in_scope([&] { return tarn::allocate_zeroed(count, size); });
  }
  static void* reallocate(void* block, std::size_t size) {
    return in_scope([&] { return tarn::reallocate(block, size); });
  }
  static void deallocate(void* block) { tarn::deallocate(block); }
  static void deallocate(void* block, std::size_t size) { tarn::deallocate(block, size); }
  static void deallocate(void* block, std::size_t size, std::size_t alignment) {
    tarn::deallocate(block, size, alignment);
  }
  static std::size_t usable_size(const void* block) { return tarn::usable_size(block); }

 private:
  template <typename Operation>
  static void* in_scope(Operation operation) {
    HeapScope scope(HeapBlocks<Memory>::heap());
    return operation();
  }
};

/// The internal heap of sensitive memory.
struct SensitiveBlocks {
  static void* allocate(std::size_t size) { return allocate_sensitive(size); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    return allocate_sensitive(size, alignment);
  }
  static void* reallocate(void* block, std::size_t size) {
    return block == nullptr ? allocate_sensitive(size) : tarn::reallocate(block, size);
  }
  static void deallocate(void* block) { deallocate_sensitive(block); }
  static void deallocate(void* block, std::size_t) { deallocate_sensitive(block); }
  static void deallocate(void* block, std::size_t, std::size_t) { tarn::deallocate(block); }
  static std::size_t usable_size(const void* block) { return tarn::usable_size(block); }
};

/// One buffer pool, with a size for each doubling up to the largest.
template <Contents kContents = Contents::kPlain>
struct BufferBlocks {
  static constexpr std::size_t kAlignment = 4096;
  static BufferPool& pool() {
    static BufferPool pool({.name = "conformance",
                            .smallest_bytes = kAlignment,
                            .largest_bytes = 256 * kKiB,
                            .alignment = kAlignment,
                            .sensitive = kContents == Contents::kSensitive});
    return pool;
  }
  static void* allocate(std::size_t size) { return pool().allocate(size); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    return alignment <= kAlignment ? pool().allocate(size) : nullptr;
  }
  static void deallocate(void* block) { pool().deallocate(block); }
  static void deallocate(void* block, std::size_t size) { pool().deallocate(block, size); }
  static void deallocate(void* block, std::size_t, std::size_t) { tarn::deallocate(block); }
  static std::size_t usable_size(const void* block) { return tarn::usable_size(block); }
};

/// One arena, reset whenever no block of it is live.
template <Contents kContents = Contents::kPlain>
struct ArenaBlocks {
  static void* allocate(std::size_t size) { return note(arena().allocate(size)); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    return note(arena().allocate(size, alignment));
  }
  static void deallocate(void* block) {
    arena().deallocate(block);
    if (block != nullptr && --live() == 0) arena().reset();
  }
  static void deallocate(void* block, std::size_t) { deallocate(block); }
  static void deallocate(void* block, std::size_t, std::size_t) { deallocate(block); }

 private:
  static Arena& arena() {
    static Arena arena({.sensitive = kContents == Contents::kSensitive});
    return arena;
  }
  static std::size_t& live() {
    static std::size_t count = 0;
    return count;
  }
  static void* note(void* block) {
    live() += block != nullptr;
    return block;
  }
};

/// A std::pmr resource, or a std allocator, over a source; they throw where the suite expects nullptr. What
/// they take back tells no size here: those of these sources need none.
template <typename Source>
struct ResourceBlocks {
  static void* allocate(std::size_t size) { return allocate(size, 16); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    static memory_resource resource(Source::instance());
    try {
      return resource.allocate(size, alignment);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  static void deallocate(void* block) {
    if (block != nullptr) memory_resource(Source::instance()).deallocate(block, 1, 1);
  }
  static void deallocate(void* block, std::size_t) { deallocate(block); }
  static void deallocate(void* block, std::size_t, std::size_t) { deallocate(block); }
  static std::size_t usable_size(const void* block) { return tarn::usable_size(block); }
};

template <typename Source>
struct AllocatorBlocks {
  static void* allocate(std::size_t size) {
    try {
      return instance().allocate(size);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  static void* allocate(std::size_t size, std::size_t alignment) {
    return allocate(std::max(size, alignment));
  }
  static void deallocate(void* block) {
    if (block != nullptr) instance().deallocate(static_cast<std::byte*>(block), 1);
  }
  static void deallocate(void* block, std::size_t) { deallocate(block); }
  static void deallocate(void* block, std::size_t, std::size_t) { deallocate(block); }
  static std::size_t usable_size(const void* block) { return tarn::usable_size(block); }

 private:
  using Allocator = allocator_for<std::byte, std::remove_reference_t<decltype(Source::instance())>>;
  static Allocator instance() {
    if constexpr (Allocator::is_always_equal::value) {
      return {};
    } else {
      return Allocator(Source::instance());
    }
  }
};

/// Handler memory, which keeps what it is given back.
struct HandlerBlocks {
  static void* allocate(std::size_t size) { return memory().allocate(size); }
  static void* allocate(std::size_t size, std::size_t alignment) {
    return memory().allocate(size, alignment);
  }
  static void deallocate(void* block) { memory().deallocate(block, 0); }
  static void deallocate(void* block, std::size_t size) { memory().deallocate(block, size); }
  static void deallocate(void* block, std::size_t size, std::size_t alignment) {
    memory().deallocate(block, size, alignment);
  }
  static std::size_t usable_size(const void* block) { return tarn::usable_size(block); }

 private:
  static HandlerMemory& memory() {
    static HandlerMemory memory;
    return memory;
  }
};

struct GeneralSource {
  static MemoryPool& instance() {
    static MemoryPool pool;
    return pool;
  }
};
struct HeapSource {
  static Heap& instance() { return HeapBlocks<LibraryPages>::heap(); }
};

}  // namespace tarn::test
