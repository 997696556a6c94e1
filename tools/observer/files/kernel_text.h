// The texts of /proc and their numbers. Minidumps hold copies of them.
#pragma once
#include <fcntl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarn::observer {

class InputFile;

/// \returns nothing where there is no such file, no right to read it, or the process has ended.
std::optional<std::string> read_kernel_text(const std::string& path, int directory = AT_FDCWD);
std::optional<std::string> read_kernel_text(const InputFile& file);

/// Takes the next line off a text. \returns false when there is none.
bool take_line(std::string_view& text, std::string_view& line);

/// What follows a label like "VmRSS:" at the start of a line, without the spaces around; "" without it.
std::string_view field_of(std::string_view text, std::string_view label);

/// The number that a text starts with, 0 without one.
std::uint64_t number_in(std::string_view text, int base = 10);

/// A field like "VmRSS:  12 kB", in bytes.
std::uint64_t bytes_of(std::string_view text, std::string_view label);

/// What follows the last slash.
std::string base_name(std::string_view path);

/// The name of a process's program, as `ps` shows it; printable. \param directory of /proc/PID
std::string program_name(int directory);

}  // namespace tarn::observer
