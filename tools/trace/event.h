// What a trace is made of: the events that a recorded library puts down, and which of them can be believed.
#pragma once
#include <cstdint>

#include "base/call_event.h"

namespace tarn::trace {

inline constexpr unsigned kLastOperation = static_cast<unsigned>(Operation::kLost);
inline constexpr unsigned kMostAlignmentLog2 = 40;

/// Whether any program can have made such an event.
constexpr bool is_sound(const Event& event) {
  const auto operation = static_cast<unsigned>(event.operation());
  return operation >= 1 && operation <= kLastOperation && event.alignment_log2() <= kMostAlignmentLog2;
}

}  // namespace tarn::trace
