// The resources of <memory_resource>, called by their own type: what is virtual in them stays virtual, but
// the caller adds nothing.
#include <memory_resource>

#include "all_workloads.h"
#include "arenas.h"

namespace tarn::bench {
namespace {

// The largest block is told, so that none goes past the pools to operator new.
template <class Resource, std::size_t Bytes>
struct PoolResource {
  void* allocate(std::size_t bytes) { return resource.allocate(bytes); }
  void deallocate(void* block, std::size_t bytes) { resource.deallocate(block, bytes); }

  Resource resource{std::pmr::pool_options{.max_blocks_per_chunk = 0, .largest_required_pool_block = Bytes}};
};

template <std::size_t Bytes>
struct Unsynchronized : PoolResource<std::pmr::unsynchronized_pool_resource, Bytes> {
  static constexpr Sharing kSharing = Sharing::kOneThread;
};

template <std::size_t Bytes>
struct Synchronized : PoolResource<std::pmr::synchronized_pool_resource, Bytes> {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
};

/// operator new and sized delete behind the interface of the others.
template <std::size_t>
struct NewDelete {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t bytes) { return std::pmr::new_delete_resource()->allocate(bytes); }
  void deallocate(void* block, std::size_t bytes) {
    std::pmr::new_delete_resource()->deallocate(block, bytes);
  }
};

using contiguous::kBlockBytes;

struct Runs : PoolResource<std::pmr::unsynchronized_pool_resource, contiguous::kLongestRun * kBlockBytes> {
  void* allocate_run(std::size_t count) { return allocate(count * kBlockBytes); }
  void deallocate_run(void* run, std::size_t count) { deallocate(run, count * kBlockBytes); }
};

/// As a program writes it that has the resource as a local object: the compiler may see which function is
/// called.
class LocalMonotonic {
 public:
  LocalMonotonic() = default;
  LocalMonotonic(void* buffer, std::size_t bytes) : resource_(buffer, bytes) {}
  void* allocate(std::size_t bytes) { return resource_.allocate(bytes); }
  void reset() { resource_.release(); }

 protected:
  std::pmr::monotonic_buffer_resource resource_;
};

/// As containers have it that were given a std::pmr::memory_resource*: by a virtual call.
struct Monotonic : LocalMonotonic {
  using LocalMonotonic::LocalMonotonic;
  void* allocate(std::size_t bytes) {
    return static_cast<std::pmr::memory_resource*>(escape(&resource_))->allocate(bytes);
  }
};

constexpr const char* kLibrary = "std::pmr, g++ " __VERSION__;

const UnsharedContestant<Unsynchronized> unsynchronized("pmr-unsynchronized", Kind::kPool, kLibrary);
const SharedContestant<Synchronized> synchronized("pmr-synchronized", Kind::kPool, kLibrary);
const SharedContestant<NewDelete> new_delete("pmr-new-delete", Kind::kPool, kLibrary);
const Contestant runs("pmr-unsynchronized", Kind::kPool, Sharing::kOneThread, kLibrary,
                      {contiguous::run<Runs>});
const Contestant monotonic("pmr-monotonic", Kind::kPool, Sharing::kOneThread, kLibrary,
                           {arenas::run<Monotonic>});
const Contestant local_monotonic("pmr-monotonic-local", Kind::kPool, Sharing::kOneThread, kLibrary,
                                 {arenas::run<LocalMonotonic>});

}  // namespace
}  // namespace tarn::bench
