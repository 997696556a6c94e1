// tarn's pools of blocks as the workloads take them.
#pragma once
#include "contestant.h"
#include "tarn/fixed_pool.h"
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
