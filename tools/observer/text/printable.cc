#include "observer/text/printable.h"

#include <algorithm>

#include "base/printable.h"

namespace tarn::observer {
namespace {

constexpr std::string_view kCut = "…";

bool begins_character(char byte) { return !internal::utf8::is_tail(byte); }

/// Takes a character: as it may be written, where its code is below a limit.
std::string_view next_shown(const std::string& text, std::size_t& at, std::uint32_t limit = UINT32_MAX) {
  const internal::Character character = internal::first_character(text.c_str() + at);
  const std::string_view written = character.may_be_shown && character.code < limit
                                       ? std::string_view(text).substr(at, character.bytes)
                                       : std::string_view(&internal::kNotShown, 1);
  at += character.bytes;
  return written;
}

/// The bytes of the first columns of a text.
std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t before = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && before++ == columns) break;
  return at;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most_bytes) {
  const std::string source(text.substr(0, most_bytes + kCut.size()));
  std::string shown;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view written = next_shown(source, at);
    if (shown.size() + written.size() > most_bytes) return shown += kCut;
    shown += written;
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (at != 0) shown += '\n';
    shown += printable(text.substr(at, end - at), text.size() * 2);
    at = end + 1;
  }
  return shown;
}

std::string in_single_columns(const std::string& text) {
  constexpr std::uint32_t kFirstThatMayCombine = 0x300;
  std::string shown;
  for (std::size_t at = 0; at < text.size();) shown += next_shown(text, at, kFirstThatMayCombine);
  return shown;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string first_columns(const std::string& text, std::size_t columns) {
  return text.substr(0, bytes_of_columns(text, columns));
}

std::string with_end_cut(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  return columns == 0 ? std::string() : first_columns(text, columns - 1).append(kCut);
}

std::string with_start_cut(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  if (columns == 0) return {};
  std::size_t start = text.size();
  for (std::size_t shown = 0; shown + 1 < columns;)
    if (begins_character(text[--start])) ++shown;
  return std::string(kCut).append(text, start);
}

}  // namespace tarn::observer
