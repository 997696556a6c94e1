// tarn's pools of blocks as the workloads take them.
#pragma once
#include <bit>

#include "contestant.h"
#include "live_objects.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"

namespace tarn::bench {

template <class Pool, std::size_t Bytes>
struct BlockPool {
  void* allocate(std::size_t) { return pool.allocate(); }
  void deallocate(void* block, std::size_t) { pool.deallocate(block); }

  Pool pool{Bytes};
};

template <std::size_t Bytes>
struct Fixed : BlockPool<FixedPool, Bytes> {
  static constexpr Sharing kSharing = Sharing::kOneThread;
};

template <std::size_t Bytes>
struct SharedFixed : BlockPool<SharedFixedPool, Bytes> {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
};

/// Blocks of one size in a heap with a hard limit, so that each is charged.
template <std::size_t Bytes>
struct HeapBlocks {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t) { return heap.allocate(Bytes); }
  void deallocate(void* block, std::size_t) { heap.deallocate(block); }

  Heap heap{HeapOptions{.hard_limit = std::size_t{8} << 30}};
};

/// Such a heap for blocks of any size, as malloc.
struct HeapCalls {
  static Heap& heap() {
    static Heap only({.hard_limit = std::size_t{8} << 30});
    return only;
  }
  static void* allocate(std::size_t bytes) { return heap().allocate(bytes); }
  static void deallocate(void* block, std::size_t) { heap().deallocate(block); }
  static void free(void* block) { heap().deallocate(block); }
  static void* reallocate(void* block, std::size_t bytes) { return heap().reallocate(block, bytes); }
  static std::size_t usable_bytes(void* block) { return heap().usable_size(block); }
  static void* memory_of(void* block) { return block; }
};

/// A buffer pool for blocks of any size, as malloc; a free tells the size.
struct BufferCalls {
  static BufferPool& pool() {
    static BufferPool only({.smallest_bytes = 16, .largest_bytes = 65536, .alignment = 16});
    return only;
  }
  static void* allocate(std::size_t bytes) { return pool().allocate(bytes); }
  static void deallocate(void* block, std::size_t bytes) { pool().deallocate(block, bytes); }
  static void* memory_of(void* block) { return block; }
};

/// The same by hand: a shared fixed pool for each doubling.
class PoolsByHand {
 public:
  static void* allocate(std::size_t bytes) { return pool_for(bytes).allocate(); }
  static void deallocate(void* block, std::size_t bytes) { pool_for(bytes).deallocate(block); }
  static void* memory_of(void* block) { return block; }

 private:
  static SharedFixedPool& pool_for(std::size_t bytes) {
    static SharedFixedPool pools[] = {SharedFixedPool(16),   SharedFixedPool(32),    SharedFixedPool(64),
                                      SharedFixedPool(128),  SharedFixedPool(256),   SharedFixedPool(512),
                                      SharedFixedPool(1024), SharedFixedPool(2048),  SharedFixedPool(4096),
                                      SharedFixedPool(8192), SharedFixedPool(16384), SharedFixedPool(32768),
                                      SharedFixedPool(65536)};
    return pools[std::bit_width((bytes - 1) >> 4)];
  }
};

template <std::size_t Bytes>
class Objects {
 public:
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t) { return pool_.create(); }
  void deallocate(void* block, std::size_t) { pool_.destroy(static_cast<Node*>(block)); }

 private:
  struct Node {
    Node() {}
    char bytes[Bytes];
  };
  ObjectPool<Node> pool_;
};

/// Game objects in a pool of raw blocks.
template <class Pool, std::size_t Bytes>
class WalkedBlocks {
 public:
  using Object = live_objects::Object<Bytes>;

  explicit WalkedBlocks(std::size_t) {}
  Object* create() { return ::new (pool_.allocate()) Object; }
  void destroy(Object* object) { pool_.deallocate(object); }
  void settle() {}
  template <class Visit>
  void for_each_live(Visit visit) {
    pool_.for_each_live([&](void* block) { visit(*static_cast<Object*>(block)); });
  }

 private:
  Pool pool_{FixedPoolOptions{.block_bytes = Bytes, .alignment = 8}};
};

template <std::size_t Bytes>
using WalkedFixed = WalkedBlocks<FixedPool, Bytes>;
template <std::size_t Bytes>
using WalkedShared = WalkedBlocks<SharedFixedPool, Bytes>;

template <std::size_t Bytes>
class WalkedObjects {
 public:
  using Object = live_objects::Object<Bytes>;

  explicit WalkedObjects(std::size_t) {}
  Object* create() { return pool_.create(); }
  void destroy(Object* object) { pool_.destroy(object); }
  void settle() {}
  template <class Visit>
  void for_each_live(Visit visit) {
    pool_.for_each_live(visit);
  }

 private:
  ObjectPool<Object, LiveObjects::kListed> pool_{{.at_end = AtPoolEnd::kDestroy}};
};

template <std::size_t Bytes>
class WalkedHandles {
 public:
  using Object = live_objects::Object<Bytes>;

  explicit WalkedHandles(std::size_t) {}
  Object* create() { return pool_.get(pool_.create()); }
  void destroy(Object* object) { object->rest[0] = kDead; }
  void settle() {
    pool_.for_each_live([&](Handle<Object> handle, Object& object) {
      if (object.rest[0] == kDead) pool_.destroy(handle);
    });
  }
  template <class Visit>
  void for_each_live(Visit visit) {
    pool_.for_each_live([&](Handle<Object>, Object& object) { visit(object); });
  }

 private:
  static constexpr char kDead = 1;
  HandlePool<Object> pool_{{.at_end = AtPoolEnd::kDestroy}};
};

// Always inlined, like the pools' own functions: g++ finds some of these too long.
template <std::size_t Bytes>
struct NamedByHandle {
  using Object = live_objects::Object<Bytes>;

  [[gnu::always_inline]] Handle<Object> create() { return pool.create(); }
  [[gnu::always_inline]] Object* find(Handle<Object> handle) { return pool.get(handle); }
  [[gnu::always_inline]] void destroy(Handle<Object> handle) { pool.destroy(handle); }

  HandlePool<Object> pool{};
};

template <std::size_t Bytes>
struct NamedByPointer {
  using Object = live_objects::Object<Bytes>;

  [[gnu::always_inline]] Object* create() { return pool.create(); }
  [[gnu::always_inline]] Object* find(Object* object) { return object; }
  [[gnu::always_inline]] void destroy(Object* object) { pool.destroy(object); }

  ObjectPool<Object> pool{};
};

}  // namespace tarn::bench
