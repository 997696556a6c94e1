// The tables that exceptions use, as far as a stack of return addresses needs them: .eh_frame_hdr with its
// sorted list of functions, and the call frame instructions of .eh_frame.
// Source: the Linux Standard Base, 10.6; the DWARF 4 standard, 6.4.
// Threads: any; reads constants.
#pragma once
#include <cstdint>

#include "os/unwind_rule.h"

namespace tarn::internal::os {

/// \returns the rule of an address inside of a function; kUnknown when the tables have none that can be used.
/// \param eh_frame_hdr the section, of loaded code.
UnwindRule rule_in_eh_frame(const void* eh_frame_hdr, std::uintptr_t address);

}  // namespace tarn::internal::os
