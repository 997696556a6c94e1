// Where events come from: a chunk of one thread's at a time, each as often as it is asked for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/event.h"

namespace tarn::trace {

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
