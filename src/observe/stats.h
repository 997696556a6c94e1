// What the library holds, counted from its records when asked, so that nothing is counted on the fast path.
// The walk takes each heap's mutex in turn; blocks in other threads' magazines are read as they change.
#pragma once
#include "central/size_class.h"
#include "observe/stat_fields.h"
#include "thread/call_counts.h"

namespace tarn::internal {

struct Stats : tarn_statistics {
  ClassUse classes[kClassCount];
  CallCounts large_calls;         // and all calls of reallocate
  std::uint64_t pool_live_bytes;  // of fixed pools, heaps and arenas; object pools are among the classes
};

void collect_stats(Stats& stats);

/// Statistics in memory of their own. \why 22 KiB are too much for the stack of a small thread, and a static
/// place would need a lock that a fork can leave locked.
class StatsSnapshot {
 public:
  StatsSnapshot();
  ~StatsSnapshot();
  StatsSnapshot(const StatsSnapshot&) = delete;
  StatsSnapshot& operator=(const StatsSnapshot&) = delete;
  /// False when there was no memory for it.
  explicit operator bool() const { return stats_ != nullptr; }
  const Stats& operator*() const { return *stats_; }

 private:
  Stats* stats_;
};

/// Writes the statistics as one JSON object. \returns false when the file cannot be written.
bool write_stats_json(int descriptor);

/// At the end of the process, where the option stats_file asks for it: to that name with .PID appended.
void write_stats_file();

}  // namespace tarn::internal
