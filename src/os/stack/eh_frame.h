// The tables that exceptions use, as far as a stack of return addresses needs them: .eh_frame_hdr with its
// sorted list of functions, and the call frame instructions of .eh_frame.
// Source: the Linux Standard Base, 10.6; the DWARF 4 standard, 6.4.
// Threads: any; reads constants.
#pragma once
#include <cstddef>
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

/// \returns the rule of an address inside of a function; kUnknown when the tables have none that can be used.
/// \param eh_frame_hdr the section, of loaded code.
UnwindRule rule_in_eh_frame(const void* eh_frame_hdr, std::uintptr_t address);

/// The same of a program that is linked statically (program_frames.cc). \pre the library is in its file.
UnwindRule rule_in_program(std::uintptr_t address);

/// A function and what .eh_frame says of it.
struct FunctionFrames {
  std::uintptr_t start;
  const void* description;
};

/// Fills `functions` in the order of the section. \returns how many there are, also beyond the room.
/// \param eh_frame the section, of loaded code, with its end
std::size_t list_functions(const void* eh_frame, std::size_t bytes, FunctionFrames* functions,
                           std::size_t room);
/// \returns kUnknown when the address is not in the function.
UnwindRule rule_in_function(const void* description, std::uintptr_t address);

}  // namespace tarn::internal::os
