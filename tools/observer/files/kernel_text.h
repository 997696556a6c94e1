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
/// \returns nothing also where the file is empty.
std::optional<std::string> first_line_of(const std::string& path);
/// A file of /proc/PID, which may be a thread's too; "" where read_kernel_text() gives nothing.
std::string process_text(int pid, const std::string& file);

/// Takes the next line off a text. \returns false when there is none.
bool take_line(std::string_view& text, std::string_view& line);

/// What follows a label like "VmRSS:" at the start of a line, without the spaces around; "" without it.
std::string_view field_of(std::string_view text, std::string_view label);

/// The number that a text starts with; 0 or nothing without one.
std::uint64_t number_in(std::string_view text, int base = 10);
std::optional<std::uint64_t> known_number_in(std::string_view text, int base = 10);

/// Takes a number to the base of 16, and what stands behind it. \returns false where that is not there.
bool take_hexadecimal(std::string_view& text, char separator, std::uint64_t& number);

/// A field like "VmRSS:  12 kB", in bytes; 0 or nothing without it.
std::uint64_t bytes_of(std::string_view text, std::string_view label);
std::optional<std::uint64_t> known_bytes_of(std::string_view text, std::string_view label);

/// A word of /proc/PID/stat, as proc(5) numbers them, from the third on; "" without it.
std::string_view word_of_stat(std::string_view text, int number);

/// Whether /proc/PID/stat, or its absence (""), tells that the process is no more, or a zombie.
bool tells_of_end(std::string_view stat);

/// The word in brackets of "always [madvise] never"; "" without one.
std::string_view chosen_word(std::string_view text);

/// What follows the last slash.
std::string base_name(std::string_view path);

/// The name of the file that a process executes; "" without the right to look. \param link /proc/PID/exe
std::string executable_name(const std::string& link, int directory = AT_FDCWD);

/// The name of a process's program, as `ps` shows it; printable. \param directory of /proc/PID
std::string program_name(int directory);

}  // namespace tarn::observer
