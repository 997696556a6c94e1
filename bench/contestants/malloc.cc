// malloc and free, operator new and delete: glibc's, or those of a preloaded allocator. Sized delete where
// the size is known. Sources 003 and 004 compare with new, the others' workloads call malloc.
#include <new>

#include "all_workloads.h"
#include "malloc_api.h"

namespace tarn::bench {
namespace {

template <std::size_t>
struct NewDelete {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  void deallocate(void* block, std::size_t bytes) { ::operator delete(block, bytes); }
};

struct NewDeleteRuns {
  void* allocate_run(std::size_t count) { return ::operator new(count* contiguous::kBlockBytes); }
  void deallocate_run(void* run, std::size_t count) {
    ::operator delete(run, count* contiguous::kBlockBytes);
  }
};

/// Runs of blocks of any size; there is no cap.
template <std::size_t Bytes>
struct RunsAsBlocks {
  explicit RunsAsBlocks(std::size_t) {}
  void* allocate_run(std::size_t count) { return ::operator new(count* Bytes); }
  void deallocate_run(void* run, std::size_t count) { ::operator delete(run, count* Bytes); }
};

const MallocContestant<Malloc, NewDelete, NewDeleteRuns> general("malloc", Kind::kMalloc, "");
const Contestant runs_in_churn("malloc", Kind::kMalloc, Sharing::kAnyThread, "", {runs::run<RunsAsBlocks>});

}  // namespace
}  // namespace tarn::bench
