// A malloc as the workloads on pools take it: blocks of one size, and runs of blocks as one block.
#pragma once
#include "all_workloads.h"
#include "fork_heap.h"

namespace tarn::bench {

template <class Api>
struct MallocAsPools {
  template <std::size_t>
  struct Pool {
    static constexpr Sharing kSharing = Sharing::kAnyThread;
    void* allocate(std::size_t bytes) { return Api::allocate(bytes); }
    void deallocate(void* block, std::size_t bytes) { Api::deallocate(block, bytes); }
  };

  /// There is no cap.
  template <std::size_t Bytes>
  struct CappedRuns {
    explicit CappedRuns(std::size_t) {}
    void* allocate_run(std::size_t count) { return Api::allocate(count * Bytes); }
    void deallocate_run(void* run, std::size_t count) { Api::deallocate(run, count * Bytes); }
  };

  struct Runs : CappedRuns<contiguous::kBlockBytes> {
    Runs() : CappedRuns<contiguous::kBlockBytes>(0) {}
  };
};

/// Every workload. `PoolApi` is what the workloads on pools call, where that is another interface.
template <class Api, class PoolApi = Api>
struct WholeMalloc {
  using Pools = MallocAsPools<PoolApi>;

  WholeMalloc(const char* name, Kind kind, const char* library)
      : all(name, kind, library),
        others(name, kind, Sharing::kAnyThread, library,
               {runs::run<Pools::template CappedRuns>, fork_heap::run<Api>}) {}

  MallocContestant<Api, Pools::template Pool, typename Pools::Runs> all;
  Contestant others;
};

}  // namespace tarn::bench
