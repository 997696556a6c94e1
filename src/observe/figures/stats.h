// Counts the library's memory from its records when asked, so that the fast path counts nothing. The walk
// takes each heap's mutex in turn; blocks in other threads' magazines are read while they change.
#pragma once
#include "central/classes/size_class.h"
#include "observe/figures/stat_fields.h"
#include "thread/watch/call_counts.h"

namespace tarn::internal {

/// All private classes together.
struct PrivateClassUse {
  std::uint64_t total_bytes, cached_bytes, free_bytes;  // of blocks
  CallCounts calls;
};

struct Stats : tarn_statistics {
  ClassUse classes[kBinCount];
  PrivateClassUse of_pools;
  CallCounts large_calls;         // and all calls of reallocate
  std::uint64_t pool_live_bytes;  // of fixed pools, heaps and arenas
};

void collect_stats(Stats& stats);

/// Statistics in mapped memory. \why 22 KiB are too much for the stack of a small thread, and a static object
/// would need a lock that a fork can leave locked.
class StatsSnapshot {
 public:
  StatsSnapshot();
  ~StatsSnapshot();
  StatsSnapshot(const StatsSnapshot&) = delete;
  StatsSnapshot& operator=(const StatsSnapshot&) = delete;
  /// False when memory for it was refused.
  explicit operator bool() const { return stats_ != nullptr; }
  const Stats& operator*() const { return *stats_; }

 private:
  Stats* stats_;
};

/// Writes the statistics as one JSON object. \returns false when the file cannot be written.
bool write_stats_json(int descriptor);

}  // namespace tarn::internal
