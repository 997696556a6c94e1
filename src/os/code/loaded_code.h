// The file that an address of code lies in, as the loader knows it; it is asked without a lock.
// Threads: any.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// What the loader says of an address.
struct LoadedCode {
  std::uint64_t start = 0, end = 0, base = 0;
  std::uint64_t check = 0;  // of its first bytes
  const char* path = "";    // "": the program's own file
};

/// \returns false where no file has the address, or the loader cannot be asked.
bool look_up_code(std::uint64_t address, LoadedCode& code);

/// Copies the build id of a loaded file, which is in its notes. \returns its bytes; 0: there is none, or no
/// room for it.
std::uint32_t copy_build_id(const LoadedCode& code, unsigned char* to, std::size_t room);

/// Writes the directory that the program is in, and a slash. \returns its bytes; 0: it is not known.
std::size_t write_working_directory(char* to, std::size_t room);

}  // namespace tarn::internal::os
