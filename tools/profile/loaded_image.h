// A program or library out of the memory of a process that has it loaded: the file may be gone, or be another
// one by now. Its segments are there, not its sections: of its functions, those it exports have names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "observer/input_file.h"

namespace tarn::profile {

/// \returns how many bytes there were.
using ReadMemory = std::function<std::size_t(std::uint64_t address, void* into, std::size_t bytes)>;

/// \param start where the file's first byte lies
/// \returns a file in memory; not open: nothing of ELF is there.
observer::InputFile loaded_image(const ReadMemory& read, std::uint64_t start);

}  // namespace tarn::profile
