// The functions of a program that is linked statically: linkers leave out the sorted list of them
// (.eh_frame_hdr) there, and no loader knows where .eh_frame is.
//
// The idea: the headers of the program's file say where the section lies in memory; its functions are listed
// and sorted once, when a stack is first taken. Where the file cannot be read, no function is known.
// Threads: any; whoever comes while the list is made makes one too, and one of them is kept.
#pragma once
#include <cstdint>

#include "os/stack/unwind_rule.h"

namespace tarn::internal::os {

/// As rule_in_eh_frame. \pre the library is in the program's file
UnwindRule rule_in_program(std::uintptr_t address);

}  // namespace tarn::internal::os
