// The names of the groups, and the usual sets of them. A pool with more to offer registers again under its
// name.
#pragma once
#include "batches_003.h"
#include "batches_004.h"
#include "contestant.h"
#include "shared.h"

namespace tarn::bench {

inline constexpr const char* kGroup003Fixed = "003_fixed";
inline constexpr const char* kGroup003Threaded = "003_threaded";
inline constexpr const char* kGroup003Untouched = "003_untouched";
inline constexpr const char* kGroup003RandomSizes = "003_random_sizes";
inline constexpr const char* kGroup003Contiguous = "003_contiguous";
inline constexpr const char* kGroup004Batches = "004_batches";
inline constexpr const char* kGroup004SingleCalls = "004_single_calls";
inline constexpr const char* kGroupShared = "shared";
inline constexpr const char* kGroupArena = "arena";

/// A pool of blocks for one thread, as a contestant.
template <template <std::size_t> class Pool>
class UnsharedContestant : public Contestant {
 public:
  explicit UnsharedContestant(const char* name)
      : Contestant(name, {{kGroup003Fixed, run_003_fixed<Pool>},
                          {kGroup003Untouched, run_003_untouched<Pool>},
                          {kGroup003RandomSizes, run_003_random_sizes<Pool>},
                          {kGroup004Batches, run_004_batches<Pool>},
                          {kGroup004SingleCalls, run_004_single_calls<Pool>}}) {}
};

/// A pool of blocks for any thread, as a contestant.
template <template <std::size_t> class Pool>
class SharedContestant : public Contestant {
 public:
  explicit SharedContestant(const char* name)
      : Contestant(name, {{kGroup003Fixed, run_003_fixed<Pool>},
                          {kGroup003Threaded, run_003_threaded<Pool>},
                          {kGroup003Untouched, run_003_untouched<Pool>},
                          {kGroup003RandomSizes, run_003_random_sizes<Pool>},
                          {kGroup004Batches, run_004_batches<Pool>},
                          {kGroup004SingleCalls, run_004_single_calls<Pool>},
                          {kGroupShared, run_shared<Pool>}}) {}
};

}  // namespace tarn::bench
