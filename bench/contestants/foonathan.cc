// foonathan/memory: memory_pool, memory_pool_collection, both also behind the library's own mutex, the array
// pool for runs of blocks, and memory_stack. Debian's build has the debugging options off.
#include <foonathan/memory/allocator_storage.hpp>
#include <foonathan/memory/memory_pool.hpp>
#include <foonathan/memory/memory_pool_collection.hpp>
#include <foonathan/memory/memory_stack.hpp>
#include <foonathan/memory/threading.hpp>
#include <mutex>

#include "all_workloads.h"
#include "arenas.h"

namespace tarn::bench {
namespace {

namespace fm = foonathan::memory;

constexpr std::size_t kBlocksAtFirst = 256;

template <std::size_t Bytes>
class MemoryPool {
 public:
  static constexpr Sharing kSharing = Sharing::kOneThread;
  void* allocate(std::size_t) { return pool_.allocate_node(); }
  void deallocate(void* block, std::size_t) { pool_.deallocate_node(block); }

 private:
  using Nodes = fm::memory_pool<fm::node_pool>;
  Nodes pool_{Bytes, Nodes::min_block_size(Bytes, kBlocksAtFirst)};
};

template <std::size_t Bytes>
class LockedMemoryPool {
 public:
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t) { return pool_.allocate_node(Bytes, 1); }
  void deallocate(void* block, std::size_t) { pool_.deallocate_node(block, Bytes, 1); }

 private:
  using Nodes = fm::memory_pool<fm::node_pool>;
  fm::thread_safe_allocator<Nodes, std::mutex> pool_{
      Nodes(Bytes, Nodes::min_block_size(Bytes, kBlocksAtFirst))};
};

// Buckets by powers of two: one per size would take thousands of lists and the blocks for each.
template <std::size_t Bytes>
class PoolCollection {
 public:
  static constexpr Sharing kSharing = Sharing::kOneThread;
  void* allocate(std::size_t bytes) { return pools_.allocate_node(bytes); }
  void deallocate(void* block, std::size_t bytes) { pools_.deallocate_node(block, bytes); }

 private:
  fm::memory_pool_collection<fm::node_pool, fm::log2_buckets> pools_{Bytes, 256 * 1024};
};

class ArrayPool {
 public:
  void* allocate_run(std::size_t count) { return pool_.allocate_array(count); }
  void deallocate_run(void* run, std::size_t count) { pool_.deallocate_array(run, count); }

 private:
  using Arrays = fm::memory_pool<fm::array_pool>;
  static constexpr std::size_t kBytes = contiguous::kBlockBytes;
  Arrays pool_{kBytes, Arrays::min_block_size(kBytes, kBlocksAtFirst)};
};

class Stack {
 public:
  Stack() : Stack(nullptr, 4096) {}
  /// The library has no stack over a caller's buffer that may grow; a first block of that size is the
  /// nearest.
  Stack(void*, std::size_t bytes) : stack_(bytes), bottom_(stack_.top()) {}
  void* allocate(std::size_t bytes) { return stack_.allocate(bytes, alignof(std::max_align_t)); }
  void reset() { stack_.unwind(bottom_); }

 private:
  fm::memory_stack<> stack_;
  fm::memory_stack<>::marker bottom_;
};

constexpr const char* kLibrary = "foonathan/memory " TARN_FOONATHAN_VERSION;

const UnsharedContestant<MemoryPool> memory_pool("foonathan-pool", Kind::kPool, kLibrary);
const SharedContestant<LockedMemoryPool> locked_memory_pool("foonathan-locked", Kind::kPool, kLibrary);
const UnsharedContestant<PoolCollection> pool_collection("foonathan-collection", Kind::kPool, kLibrary);
const Contestant array_pool("foonathan-array", Kind::kPool, Sharing::kOneThread, kLibrary,
                            {contiguous::run<ArrayPool>});
const Contestant stack("foonathan-stack", Kind::kPool, Sharing::kOneThread, kLibrary, {arenas::run<Stack>});

}  // namespace
}  // namespace tarn::bench
