// Reads a trace whole. The file is not trusted: each count is bounded before memory is taken for it, each
// block has its checksum, and each event must be one that a program can have made.
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "trace/trace_format.h"

namespace tarn::trace {

/// One thread's events, in its order.
struct ThreadEvents {
  std::vector<Event> events;
  std::vector<std::uint64_t> orders;  // whole, one for each event, never falling
};

struct Trace {
  Description description;
  Summary summary;  // of a truncated file: what its good blocks hold
  std::vector<ThreadEvents> threads;
  std::uint64_t event_count = 0;
  std::string damage;  // of a file that was read in part: what is wrong with the rest; else empty
};

/// What to do with a file that is good only at its beginning.
enum class Damage : std::uint8_t { kRefuse, kUseWhatIsWhole };

struct ReadLimits {
  std::uint64_t most_events = std::uint64_t{1} << 28;  // 6 GiB in memory
};

/// \throws TraceError: one line that names the file, the byte and what is wrong there
Trace read_trace(const std::string& path, Damage damage, const ReadLimits& limits = {});
/// The same from a stream; `name` stands in errors.
Trace read_trace(std::istream& file, const std::string& name, Damage damage, const ReadLimits& limits = {});

}  // namespace tarn::trace
