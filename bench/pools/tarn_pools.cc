// tarn's own: the pools, and the general pool's inlined calls beside them.
#include "all_workloads.h"
#include "arenas.h"
#include "contiguous.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace tarn::bench {
namespace {

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

template <std::size_t>
struct General {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t bytes) { return tarn::allocate(bytes); }
  void deallocate(void* block, std::size_t bytes) { tarn::deallocate(block, bytes); }
};

template <class Pool>
struct Runs {
  void* allocate_run(std::size_t count) { return pool.allocate(count); }
  void deallocate_run(void* run, std::size_t count) { pool.deallocate(run, count); }

  Pool pool{kRunBlockBytes};
};

class BumpArena {
 public:
  BumpArena() = default;
  BumpArena(void* buffer, std::size_t bytes) : arena_(buffer, bytes) {}
  void* allocate(std::size_t bytes) { return arena_.allocate(bytes); }
  void reset() { arena_.reset(); }

 private:
  Arena arena_;
};

const UnsharedContestant<Fixed> fixed("tarn-fixed");
const Contestant more_of_fixed("tarn-fixed", {{kGroup003Threaded, run_003_threaded<Fixed>},
                                              {kGroup003Contiguous, run_003_contiguous<Runs<FixedPool>>}});
const SharedContestant<SharedFixed> shared_fixed("tarn-shared");
const Contestant shared_runs("tarn-shared",
                             {{kGroup003Contiguous, run_003_contiguous<Runs<SharedFixedPool>>}});
const SharedContestant<Objects> objects("tarn-object");
const SharedContestant<General> general("tarn-inline");
const Contestant arena("tarn-arena", {{kGroupArena, run_arena<BumpArena>}});

}  // namespace
}  // namespace tarn::bench
