// operator new and delete: glibc's, or those of a preloaded allocator. Sized delete where the size is known.
#include <new>

#include "all_workloads.h"
#include "contiguous.h"

namespace tarn::bench {
namespace {

template <std::size_t>
struct NewDelete {
  static constexpr Sharing kSharing = Sharing::kAnyThread;
  void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  void deallocate(void* block, std::size_t bytes) { ::operator delete(block, bytes); }
};

struct NewDeleteRuns {
  void* allocate_run(std::size_t count) { return ::operator new(count* kRunBlockBytes); }
  void deallocate_run(void* run, std::size_t count) { ::operator delete(run, count* kRunBlockBytes); }
};

const SharedContestant<NewDelete> blocks("new");
const Contestant runs("new", {{kGroup003Contiguous, run_003_contiguous<NewDeleteRuns>}});

}  // namespace
}  // namespace tarn::bench
