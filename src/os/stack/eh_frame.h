// The tables that exceptions use, as far as a stack of return addresses needs them: .eh_frame_hdr with its
// sorted list of functions, and the call frame instructions of .eh_frame.
// Source: the Linux Standard Base, 10.6; the DWARF 4 standard, 6.4.
// Threads: any; reads constants.
#pragma once
#include <cstddef>
#include <cstdint>

#include "os/stack/unwind_rule.h"

namespace tarn::internal::os {

/// \returns the rule of an address inside of a function; kUnknown when the tables have none that can be used.
/// \param eh_frame_hdr the section, of loaded code.
UnwindRule rule_in_eh_frame(const void* eh_frame_hdr, std::uintptr_t address);

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
