// Other copies of the library in the process: that of an archive in the program, in a plugin, the shared
// library. Each serves its own blocks and knows none of the others'. It has a note in its file, by which the
// others find it when the process stops with an address that is none of theirs.
#pragma once
#include <cstdint>

#include "base/text.h"
#include "tarn/detail/api.h"

namespace tarn::internal::os {

/// What each copy tells of itself. Versions of the library read each other's: members are only added.
struct LibraryCopy {
  static constexpr std::uint64_t kMagic = 0x7970'6f63'6e72'6174;  // "tarncopy"
  std::uint64_t magic;
  bool (*owns)(const void* address);  // whether it is of the memory that blocks and records lie in
};

/// This copy's: the tier that knows the addresses defines it.
extern "C" TARN_LOCAL const LibraryCopy tarn_library_copy;

/// Whether code is of a file that has another copy.
bool is_code_beside_other_copy(const void* code);

/// If an address is of another copy, adds which files the two are in, and what to do.
/// \pre the calling thread is one of libc's, if the address is not of this copy.
void add_other_copy(Text& line, const void* address);

}  // namespace tarn::internal::os
