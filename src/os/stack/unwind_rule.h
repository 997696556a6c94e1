// What the tables for exceptions say of an address, as far as a stack of return addresses needs it.
#pragma once
#include <cstdint>

namespace tarn::internal::os {

/// How a frame that has reached an address finds its caller's.
struct UnwindRule {
  enum class Kind : std::uint8_t { kUnknown, kStep, kLast };
  Kind kind = Kind::kUnknown;
  bool is_from_frame_pointer = false;  // else from the stack pointer
  std::int32_t frame_offset = 0;       // to the caller's frame (the CFA)
  std::int32_t saved_offset = 0;       // from there to the caller's frame pointer; 0: it is unchanged
};

}  // namespace tarn::internal::os
