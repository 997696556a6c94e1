// The sources' own pools, each in the groups of its source only. Their headers say what is a source's and
// what its description leaves open.
#include "all_workloads.h"
#include "sources/source_000_pools.h"
#include "sources/source_001_managers.h"
#include "sources/source_002_tiers.h"
#include "sources/source_003_ring.h"
#include "sources/source_004_chunks.h"

namespace tarn::bench {
namespace {

/// A pool that serves any size, as the only one of the process.
template <class Pool>
struct AnySize {
  static void* allocate(std::size_t bytes) { return pool.allocate(bytes); }
  static void deallocate(void* block, std::size_t) { pool.deallocate(block); }
  static void* memory_of(void* block) { return block; }

  static inline Pool pool;
};

// Source 003's author wants more chunks than a chunk has blocks: a free searches its chunk.
constexpr std::size_t kBlocksOfChunk = 16;
constexpr std::size_t kLongestRunsOfChunk = 4;  // where runs must fit in

template <std::size_t Bytes>
struct Ring {
  static constexpr Sharing kSharing = Sharing::kOneThread;
  void* allocate(std::size_t) { return ring.allocate(); }
  void deallocate(void* block, std::size_t) { ring.deallocate(block); }

  source_003::ChunkRing<Bytes, kBlocksOfChunk> ring{source_003::kBlocks / kBlocksOfChunk};
};

/// Runs of at most `Longest` blocks.
template <std::size_t Bytes, std::size_t Longest>
class RingOfRuns {
 public:
  explicit RingOfRuns(std::size_t blocks) : ring_(blocks / kBlocks + 1) {}
  void* allocate_run(std::size_t count) { return ring_.allocate(count); }
  void deallocate_run(void* run, std::size_t count) { ring_.deallocate(run, count); }

 private:
  static constexpr std::size_t kBlocks = kLongestRunsOfChunk * Longest;
  source_003::ChunkRing<Bytes, kBlocks> ring_;
};

/// As many blocks of 64 bytes side by side as a size needs, as the paper has it; room for blocks of the
/// largest size alone.
template <std::size_t Bytes>
class RingOfSizes {
 public:
  static constexpr Sharing kSharing = Sharing::kOneThread;
  void* allocate(std::size_t bytes) { return runs_.allocate_run(blocks_for(bytes)); }
  void deallocate(void* block, std::size_t bytes) { runs_.deallocate_run(block, blocks_for(bytes)); }

 private:
  static constexpr std::size_t blocks_for(std::size_t bytes) {
    return (bytes + contiguous::kBlockBytes - 1) / contiguous::kBlockBytes;
  }
  static constexpr std::size_t kLongest = blocks_for(Bytes);
  RingOfRuns<contiguous::kBlockBytes, kLongest> runs_{source_003::kBlocks * kLongest};
};

/// Room for three times the most blocks that are live in a row.
struct ContiguousRing : RingOfRuns<contiguous::kBlockBytes, contiguous::kLongestRun> {
  ContiguousRing() : RingOfRuns(120'000) {}
};

template <std::size_t Bytes>
using RingInChurn = RingOfRuns<Bytes, runs::kLongestRun>;

template <std::size_t Bytes>
class Chunks {
 public:
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  Chunks() = default;
  ~Chunks() {
    Pool::leave_chunk();
    Pool::release_free_chunks();
  }
  void* allocate(std::size_t) { return Pool::allocate(); }
  void deallocate(void* node, std::size_t) { Pool::deallocate(node); }

 private:
  struct Object {
    char bytes[Bytes];
  };
  using Pool = source_004::ThreadChunks<Object>;
};

using Pools = AnySize<source_000::SizeClassPools<>>;
using InterlockedManager = AnySize<source_001::Manager<source_001::InterlockedList>>;
using LockedManager = AnySize<source_001::Manager<source_001::LockedStack>>;
using Tiers = AnySize<source_002::ThreeTiers<>>;

constexpr const char* kLibrary = "written anew from its source's description";

const Contestant pools("source-000", Kind::kPool, Sharing::kAnyThread, kLibrary, {source_000::run<Pools>});
const Contestant interlocked("source-001-slist", Kind::kPool, Sharing::kAnyThread, kLibrary,
                             {source_001::run<InterlockedManager>});
const Contestant locked("source-001-stack", Kind::kPool, Sharing::kAnyThread, kLibrary,
                        {source_001::run<LockedManager>});
const Contestant tiers("source-002", Kind::kPool, Sharing::kAnyThread, kLibrary, {source_002::run<Tiers>});
const Contestant ring("source-003", Kind::kPool, Sharing::kOneThread, kLibrary,
                      {source_003::run_fixed<Ring>, source_003::run_threaded<Ring>,
                       source_003::run_random_sizes<RingOfSizes>, contiguous::run<ContiguousRing>,
                       runs::run<RingInChurn>});
const Contestant chunks("source-004", Kind::kPool, Sharing::kAnyThread, kLibrary,
                        {source_004::run_all_batches<Chunks>, source_004::run_single_calls<Chunks>});

}  // namespace
}  // namespace tarn::bench
