// Reads a trace and checks that this machine can replay it.
#include "trace/prepared_trace.h"

#include <fmt/format.h>

#include "system/format.h"
#include "system/machine.h"
#include "system/usage_error.h"
#include "trace/live_sizes.h"

namespace tarn::tool {
namespace {

/// \why a forged trace may ask for more than there is, and the kernel would end other programs for it
void require_memory_for(const trace::Script& script) {
  const auto available = static_cast<std::uint64_t>(describe_machine().memory_bytes);
  if (script.peak_live_bytes < available) return;
  throw UsageError(
      fmt::format("the trace has up to {} live at once, this machine has {}: replay it on a larger one",
                  format_bytes(static_cast<double>(script.peak_live_bytes)),
                  format_bytes(static_cast<double>(available))));
}

trace::Trace read_asked_trace(const std::string& file, trace::Damage damage) {
  try {
    return trace::read_trace(file, damage);
  } catch (const trace::TraceError& error) {
    // Where a part may be good, the flag that uses it is named; where it was given, there is none.
    const bool has_part =
        damage == trace::Damage::kRefuse && std::string(error.what()).find("byte") != std::string::npos;
    throw std::runtime_error(
        fmt::format("{}{}", error.what(), has_part ? "; --partial replays what is whole before it" : ""));
  }
}

ReplayedTrace replayed(const std::string& file, const trace::Trace& trace, const trace::Script& script) {
  return {.file = file,
          .description = trace.description,
          .summary = trace.summary,
          .recorded_threads = trace.threads.size(),
          .damage = trace.damage,
          .thread_count = script.head.thread_count,
          .call_count = script.call_count,
          .peak_live_bytes = script.peak_live_bytes,
          .peak_live_blocks = script.peak_live_blocks,
          .merged = script.merged};
}

}  // namespace

PreparedTrace prepare_trace(const std::string& file, trace::Damage damage, trace::Threads threads,
                            LiveSizes sizes) {
  const trace::Trace trace = read_asked_trace(file, damage);
  const trace::Script script = trace::script_of(trace, threads);
  if (script.call_count == 0) throw UsageError(fmt::format("{} holds no calls of an allocator", file));
  require_memory_for(script);
  PreparedTrace prepared{trace::bytes_of(script), replayed(file, trace, script), {}};
  if (sizes == LiveSizes::kCount) prepared.live_sizes = trace::live_sizes_at_peak(trace);
  return prepared;
}

}  // namespace tarn::tool
