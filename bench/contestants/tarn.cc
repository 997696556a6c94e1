// tarn's own: the pools, and the general pool's inlined calls beside them.
#include "arenas.h"
#include "malloc_as_pools.h"
#include "tarn/arena.h"
#include "tarn/memory_resource.h"
#include "tarn/version.h"
#include "tarn_inline.h"
#include "tarn_pools.h"

namespace tarn::bench {
namespace {

template <class Pool>
struct Runs {
  void* allocate_run(std::size_t count) { return pool.allocate_run(count); }
  void deallocate_run(void* run, std::size_t count) { pool.deallocate_run(run, count); }

  Pool pool{contiguous::kBlockBytes};
};

template <class Pool, std::size_t Bytes>
struct CappedRuns {
  explicit CappedRuns(std::size_t most)
      : pool(FixedPoolOptions{.block_bytes = Bytes, .alignment = 8, .largest_count = most}) {}
  void* allocate_run(std::size_t count) { return pool.allocate_run(count); }
  void deallocate_run(void* run, std::size_t count) { pool.deallocate_run(run, count); }

  Pool pool;
};
template <std::size_t Bytes>
using FixedRuns = CappedRuns<FixedPool, Bytes>;
template <std::size_t Bytes>
using SharedRuns = CappedRuns<SharedFixedPool, Bytes>;

/// Requests of any size, served by as many blocks of 64 bytes side by side as they need, as in source 003.
template <std::size_t>
struct SizesInRuns {
  static constexpr Sharing kSharing = Sharing::kOneThread;
  static constexpr std::size_t kBlockBytes = 64;
  static std::size_t blocks_for(std::size_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

  void* allocate(std::size_t bytes) {
    const std::size_t count = blocks_for(bytes);
    return count == 1 ? pool.allocate() : pool.allocate_run(count);
  }
  void deallocate(void* run, std::size_t bytes) {
    const std::size_t count = blocks_for(bytes);
    count == 1 ? pool.deallocate(run) : pool.deallocate_run(run, count);
  }

  FixedPool pool{kBlockBytes};
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

/// The same as programs that take a std::pmr::memory_resource* have it.
class ArenaResource {
 public:
  ArenaResource() = default;
  ArenaResource(void* buffer, std::size_t bytes) : arena_(buffer, bytes) {}
  void* allocate(std::size_t bytes) {
    return static_cast<std::pmr::memory_resource*>(escape(&resource_))->allocate(bytes);
  }
  void reset() { arena_.reset(); }

 private:
  Arena arena_;
  memory_resource<Arena> resource_{arena_};
};

/// The general pool as programs that take a std::pmr::memory_resource* have it: by a virtual call.
template <std::size_t>
struct Resource {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t bytes) { return resource->allocate(bytes); }
  void deallocate(void* block, std::size_t bytes) { resource->deallocate(block, bytes); }

  std::pmr::memory_resource* resource =
      static_cast<std::pmr::memory_resource*>(escape(tarn::default_resource()));
};

constexpr const char* kLibrary = "tarn " TARN_VERSION_STRING;

const WholeMalloc<TarnInline> general("tarn-inline", Kind::kTarnInline, kLibrary);
const UnsharedContestant<Fixed> fixed("tarn-fixed", Kind::kTarnPool, kLibrary);
const Contestant more_of_fixed("tarn-fixed", Kind::kTarnPool, Sharing::kOneThread, kLibrary,
                               {contiguous::run<Runs<FixedPool>>});
const Contestant fixed_runs("tarn-fixed", Kind::kTarnPool, Sharing::kOneThread, kLibrary,
                            {runs::run<FixedRuns>});
const Contestant sizes_in_runs("tarn-runs", Kind::kTarnPool, Sharing::kOneThread, kLibrary,
                               {source_003::run_random_sizes<SizesInRuns>});
const Contestant shared_runs_in_churn("tarn-shared", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                                      {runs::run<SharedRuns>});
const SharedContestant<SharedFixed> shared_fixed("tarn-shared", Kind::kTarnPool, kLibrary);
const Contestant shared_runs("tarn-shared", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                             {contiguous::run<Runs<SharedFixedPool>>});
const SharedContestant<Objects> objects("tarn-object", Kind::kTarnPool, kLibrary);
const Contestant heap("tarn-heap", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                      {cross_thread::run<HeapCalls>, replace::run<HeapCalls>, many_threads::run<HeapCalls>,
                       decline::run<HeapCalls>, shared::run<HeapBlocks>});
const Contestant buffers("tarn-buffer", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                         {cross_thread::run<BufferCalls>, replace::run<BufferCalls>});
const Contestant by_hand("tarn-pools-by-hand", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                         {cross_thread::run<PoolsByHand>, replace::run<PoolsByHand>});
const SharedContestant<Resource> resource("tarn-resource", Kind::kTarnPool, kLibrary);
const Contestant walked_fixed("tarn-fixed", Kind::kTarnPool, Sharing::kOneThread, kLibrary,
                              {live_objects::run_walks<WalkedFixed>});
const Contestant walked_shared("tarn-shared", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                               {live_objects::run_walks<WalkedShared>});
const Contestant walked_objects("tarn-object", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                                {live_objects::run_walks<WalkedObjects>,
                                 live_objects::run_handles<NamedByPointer>});
const Contestant handles("tarn-handle", Kind::kTarnPool, Sharing::kAnyThread, kLibrary,
                         {live_objects::run_walks<WalkedHandles>, live_objects::run_handles<NamedByHandle>});
const Contestant arena("tarn-arena", Kind::kTarnPool, Sharing::kOneThread, kLibrary,
                       {arenas::run<BumpArena>});
const Contestant arena_resource("tarn-arena-resource", Kind::kTarnPool, Sharing::kOneThread, kLibrary,
                                {arenas::run<ArenaResource>});

}  // namespace
}  // namespace tarn::bench
