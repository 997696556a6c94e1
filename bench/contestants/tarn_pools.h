// tarn's pools of blocks as the workloads take them.
#pragma once
#include "contestant.h"
#include "tarn/fixed_pool.h"
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

}  // namespace tarn::bench
