// What a trace is made of: the events that a recorded library puts down, which of them can be believed, and
// where they come from: a chunk of one thread's at a time, each as often as it is asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/call_event.h"

namespace tarn::trace {

inline constexpr unsigned kLastOperation = static_cast<unsigned>(Operation::kLost);
inline constexpr unsigned kMostAlignmentLog2 = 40;

/// Whether any program can have made such an event.
constexpr bool is_sound(const Event& event) {
  const auto operation = static_cast<unsigned>(event.operation());
  return operation >= 1 && operation <= kLastOperation && event.alignment_log2() <= kMostAlignmentLog2;
}

/// One thread's events, in its order.
struct ThreadEvents {
  std::vector<Event> events;
  std::vector<std::uint64_t> orders;  // whole, one for each event, never falling
};

class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual std::uint32_t thread_count() const = 0;
  virtual std::size_t chunk_count(std::uint32_t thread) const = 0;
  /// \pre index < chunk_count(thread) \post it is not empty
  virtual ThreadEvents chunk(std::uint32_t thread, std::size_t index) = 0;
};

}  // namespace tarn::trace
