// The workloads that any malloc can run, and those that a pool of blocks can.
#pragma once
#include "boundary.h"
#include "bucket_growth.h"
#include "contiguous.h"
#include "cross_thread.h"
#include "decline.h"
#include "first_touch.h"
#include "footprint.h"
#include "idle_threads.h"
#include "large.h"
#include "many_threads.h"
#include "near_full.h"
#include "replace.h"
#include "resize.h"
#include "runs.h"
#include "scaling.h"
#include "server.h"
#include "shared.h"
#include "source_000.h"
#include "source_001.h"
#include "source_002.h"
#include "source_003.h"
#include "source_004.h"
#include "thread_churn.h"
#include "waste.h"

namespace tarn::bench {

/// Everything: a malloc, which is also a pool of any block size.
template <class Api, template <std::size_t> class Pool, class Runs>
class MallocContestant : public Contestant {
 public:
  MallocContestant(const char* name, Kind kind, const char* library)
      : Contestant(name, kind, Sharing::kAnyThread, library,
                   {source_000::run<Api>,
                    source_001::run<Api>,
                    source_002::run<Api>,
                    source_003::run_fixed<Pool>,
                    source_003::run_threaded<Pool>,
                    source_003::run_random_sizes<Pool>,
                    contiguous::run<Runs>,
                    source_004::run_all_batches<Pool>,
                    source_004::run_single_calls<Pool>,
                    cross_thread::run<Api>,
                    server::run<Api>,
                    first_touch::run<Api>,
                    large::run<Api>,
                    resize::run<Api>,
                    boundary::run<Api>,
                    scaling::run<Api>,
                    replace::run<Api>,
                    thread_churn::run<Api>,
                    many_threads::run<Api>,
                    idle_threads::run<Api>,
                    decline::run<Api>,
                    bucket_growth::run<Pool>,
                    near_full::run<Pool>,
                    waste::run<Api>,
                    waste::run_by_size<Api>,
                    footprint::run<Api>,
                    shared::run<Pool>}) {}
};

/// A pool of blocks for one thread.
template <template <std::size_t> class Pool>
class UnsharedContestant : public Contestant {
 public:
  UnsharedContestant(const char* name, Kind kind, const char* library)
      : Contestant(
            name, kind, Sharing::kOneThread, library,
            {source_003::run_fixed<Pool>, source_003::run_threaded<Pool>, source_003::run_random_sizes<Pool>,
             source_004::run_all_batches<Pool>, source_004::run_single_calls<Pool>, bucket_growth::run<Pool>,
             near_full::run<Pool>, decline::run_pool<Pool>}) {}
};

/// A pool of blocks for any thread.
template <template <std::size_t> class Pool>
class SharedContestant : public Contestant {
 public:
  SharedContestant(const char* name, Kind kind, const char* library)
      : Contestant(
            name, kind, Sharing::kAnyThread, library,
            {source_003::run_fixed<Pool>, source_003::run_threaded<Pool>, source_003::run_random_sizes<Pool>,
             source_004::run_all_batches<Pool>, source_004::run_single_calls<Pool>, bucket_growth::run<Pool>,
             near_full::run<Pool>, decline::run_pool<Pool>, shared::run<Pool>}) {}
};

}  // namespace tarn::bench
