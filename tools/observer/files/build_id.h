// The build id of an ELF file, which its linker made of its contents: two files with one build id are equal.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "observer/files/input_file.h"

namespace tarn::observer {

/// How much of a file's start is looked at: a page, which is what the kernel puts into a core file.
inline constexpr std::size_t kElfHeadBytes = 4096;

/// Reads bytes of the file's head at an offset; false where they are not there.
using ReadHead = std::function<bool(std::uint64_t offset, void* into, std::size_t bytes)>;

/// "0a1b2c": as the names of files and readers of profiles have an id.
std::string in_hex(const std::string& id);

/// \returns the bytes of the id; nothing when the file is not ELF or its id does not lie in its head.
std::optional<std::string> build_id_in(const ReadHead& read);
std::optional<std::string> build_id_in(const InputFile& file);

}  // namespace tarn::observer
