// A trace made ready for replays: read, put into one order, checked against the machine.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "trace/replay_report.h"
#include "trace/script.h"
#include "trace/trace_reader.h"

namespace tarn::tool {

struct PreparedTrace {
  std::string script;                                 // bytes of the file that the replaying program maps
  ReplayedTrace trace;                                // what a reader is told of it
  std::map<std::uint64_t, std::uint64_t> live_sizes;  // at the peak, if they were asked for
};

enum class LiveSizes : std::uint8_t { kLeaveOut, kCount };

/// \throws UsageError, std::runtime_error: one line that says what is wrong with the trace
PreparedTrace prepare_trace(const std::string& file, trace::Damage damage, trace::Threads threads,
                            LiveSizes sizes = LiveSizes::kLeaveOut);

}  // namespace tarn::tool
