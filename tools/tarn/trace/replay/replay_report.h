// What replays came to: a table for a reader, and JSON.
#pragma once
#include <string>

#include "report/results.h"
#include "report/table.h"
#include "trace/replay/replay_run.h"
#include "trace/script.h"
#include "trace/trace_format.h"

namespace tarn::tool {

/// What was replayed.
struct ReplayedTrace {
  std::string file;
  trace::Description description;
  trace::Summary summary;
  std::size_t recorded_threads = 0;
  std::string damage;
  trace::Window window;
  // Of the script.
  std::uint32_t thread_count = 0;
  std::uint64_t call_count = 0;
  std::uint64_t peak_live_bytes = 0;
  std::uint64_t peak_live_blocks = 0;
  trace::MergeCounts merged;
};

/// Two lines or more: its command, calls, threads, and what is missing of it.
std::string about_trace(const ReplayedTrace& trace);
Json to_json(const ReplayedTrace& trace);

std::string replay_report(const ReplayedTrace& trace, const ReplayResults& results, Colour colour);
Json replay_json(const ReplayedTrace& trace, const ReplayPlan& plan, const ReplayResults& results);

}  // namespace tarn::tool
