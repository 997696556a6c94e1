#include "observer/text/printable.h"

#include <algorithm>

#include "base/printable.h"

namespace tarn::observer {
namespace {

constexpr std::string_view kCut = "…";

bool begins_character(char byte) { return !internal::utf8::is_tail(byte); }

}  // namespace

std::string printable(std::string_view text, std::size_t most_bytes) {
  const std::string source(text.substr(0, most_bytes + kCut.size()));
  std::string shown;
  for (std::size_t at = 0; at < source.size();) {
    const internal::Character character = internal::first_character(source.c_str() + at);
    const std::string_view written = character.may_be_shown
                                         ? std::string_view(source).substr(at, character.bytes)
                                         : std::string_view(&internal::kNotShown, 1);
    if (shown.size() + written.size() > most_bytes) return shown += kCut;
    shown += written;
    at += character.bytes;
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

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string with_end_cut(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  if (columns == 0) return {};
  std::size_t end = 0;
  for (std::size_t shown = 0; shown < columns; ++end)
    if (begins_character(text[end])) ++shown;
  return text.substr(0, end - 1).append(kCut);
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
