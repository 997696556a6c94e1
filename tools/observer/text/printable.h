// Text of another program, made harmless: it may hold what a terminal takes for commands, or bytes that are
// no text.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tarn::observer {

inline constexpr std::size_t kLongestName = 1024;

/// The text as UTF-8, `most_bytes` at most. What may not be shown (src/base/printable.h) becomes "?"; what is
/// cut off becomes "…".
std::string printable(std::string_view text, std::size_t most_bytes = kLongestName);

/// The same of several lines: of any length, and their ends stay.
std::string printable_lines(std::string_view text);

/// The text with "?" for each character that takes other than one column on some terminal.
std::string in_single_columns(const std::string& text);

/// Columns that a printable text takes, a character each.
std::size_t columns_of(std::string_view text);

std::string first_columns(const std::string& text, std::size_t columns);
/// At most `columns`, the end being replaced by "…".
std::string with_end_cut(const std::string& text, std::size_t columns);
/// At most `columns`, the start being replaced by "…": of a path the end tells more.
std::string with_start_cut(const std::string& text, std::size_t columns);

}  // namespace tarn::observer
