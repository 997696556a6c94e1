// A row whose threads repeat a round (threads.h): run if it is wanted, and told by the wall clock.
#pragma once
#include "session.h"
#include "threads.h"

namespace tarn::bench {

/// What a row of such rounds rests on. `operations_of_round` is those of one thread.
inline Effort effort_of(const Timing& timing, std::uint64_t operations_of_round) {
  return {timing.rounds * operations_of_round, timing.least_rounds};
}

/// The row's figure is the wall time of an operation, all threads together.
inline void report_rounds(Session& session, const Row& row, const Timing& timing,
                          std::uint64_t operations_of_round, const Extra& extra = {}) {
  const Effort effort = effort_of(timing, operations_of_round);
  session.report(row, timing.wall_ns / static_cast<double>(effort.operations), effort, extra);
}

/// `make_work` as for time_rounds(); `seconds` is the row's share at scale 1.
template <class MakeWork>
void run_timed_row(Session& session, const Row& row, double seconds, std::uint64_t operations_of_round,
                   MakeWork make_work) {
  if (!session.wants(row)) return;
  report_rounds(session, row, time_rounds(row.threads, session.budget_ns(seconds), make_work),
                operations_of_round);
}

}  // namespace tarn::bench
