// Tells an address of code as a file and an offset, where nothing may be locked or allocated: inside of a
// handler of signals, under the library's locks.
// Threads: any.
#pragma once
#include <cstdint>

namespace tarn::internal {

class Text;

namespace os {

/// Adds "file+0xoffset"; nothing where no file has the address. \returns whether one has it.
bool add_code_place(Text& text, std::uintptr_t address);

/// Whether an address is in the library's own file; not so where that is the program's.
bool is_of_own_library(std::uintptr_t address);

/// \returns the name of the exported function before an address, as the linker knows it; nullptr: there is
/// none. \pre no lock is held: the loader takes its own
const char* exported_name(const void* address);

/// Writes a stack to standard error, from where it leaves the library on, under a line "  WHO by thread N:".
/// \param addresses where calls return to, the innermost first
void write_stack(const char* who, std::uint32_t thread, void* const* addresses, unsigned count);

}  // namespace os
}  // namespace tarn::internal
