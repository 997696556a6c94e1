// Reads a trace and checks that this machine can replay it.
#include "trace/replay/prepared_trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "system/figures/format.h"
#include "system/files/machine.h"
#include "system/files/usage_error.h"

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

trace::TraceFile read_asked_trace(const AskedTrace& asked) try {
  return {asked.file, asked.is_partial ? trace::Damage::kUseWhatIsWhole : trace::Damage::kRefuse};
} catch (const trace::TraceError& error) {
  // Where a part may be good, the flag that uses it is named; where it was given, there is none.
  const bool has_part = !asked.is_partial && std::string(error.what()).find("byte") != std::string::npos;
  throw std::runtime_error(
      fmt::format("{}{}", error.what(), has_part ? "; --partial replays what is whole before it" : ""));
}

ReplayedTrace replayed(const AskedTrace& asked, const trace::TraceFile& trace, const trace::Script& script) {
  return {.file = asked.file,
          .description = trace.description(),
          .summary = trace.summary(),
          .recorded_threads = trace.thread_count(),
          .damage = trace.damage(),
          .window = asked.window,
          .thread_count = script.head.thread_count,
          .call_count = script.call_count,
          .peak_live_bytes = script.peak_live_bytes,
          .peak_live_blocks = script.peak_live_blocks,
          .merged = script.merged};
}

int unnamed_file() {
  const char* const named = std::getenv("TMPDIR");
  for (const char* const folder : {named != nullptr && *named != 0 ? named : "/var/tmp", "/tmp"})
    if (const int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); file >= 0) return file;
  throw std::system_error(errno, std::generic_category(), "no file for the calls can be made in /tmp");
}

}  // namespace

ScriptFile::ScriptFile() : descriptor_(unnamed_file()) {}

std::string ScriptFile::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), descriptor()); }

void add_window_options(CLI::App& command, trace::Window& window) {
  add_value(command, "--from CALLS", window.from, "Leave out so many calls of the trace, as 20M").as_count();
  add_value(command, "--until CALLS", window.until, "Make no call behind the one of this number").as_count();
}

PreparedTrace prepare_trace(const AskedTrace& asked) {
  if (asked.window.from >= asked.window.until) throw UsageError("--from is not before --until");
  trace::TraceFile trace = read_asked_trace(asked);
  PreparedTrace prepared{std::make_unique<ScriptFile>(), {}, {}};
  trace::Script script =
      trace::write_script(trace, asked.threads, asked.window, prepared.script->descriptor());
  if (script.call_count == 0)
    throw UsageError(fmt::format("{} holds no calls of an allocator there", asked.file));
  require_memory_for(script);
  prepared.trace = replayed(asked, trace, script);
  prepared.live_sizes = std::move(script.sizes_at_peak);
  return prepared;
}

}  // namespace tarn::tool
