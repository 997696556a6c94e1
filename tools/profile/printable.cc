#include "printable.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace tarn::profile {
namespace {

constexpr std::string_view kCut = "…";

struct CodeRange {
  std::uint32_t first, last;
};

// Controls, marks that combine with the character before, marks of direction, and what takes no column.
constexpr std::array kNotShown = {
    CodeRange{0x00, 0x1f},     CodeRange{0x7f, 0xa0},     CodeRange{0xad, 0xad},
    CodeRange{0x300, 0x36f},   CodeRange{0x61c, 0x61c},   CodeRange{0x180e, 0x180e},
    CodeRange{0x200b, 0x200f}, CodeRange{0x2028, 0x202e}, CodeRange{0x2060, 0x206f},
    CodeRange{0x20d0, 0x20ff}, CodeRange{0xfe00, 0xfe0f}, CodeRange{0xfe20, 0xfe2f},
    CodeRange{0xfeff, 0xfeff}, CodeRange{0xfff0, 0xfffb}, CodeRange{0xe0000, 0x10ffff}};

std::uint32_t code_of(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]);
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (0x7fu >> character.size());
  for (const char tail : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(tail) & 0x3fu);
  return code;
}

bool is_shown(std::string_view character) {
  const std::uint32_t code = code_of(character);
  return std::none_of(kNotShown.begin(), kNotShown.end(),
                      [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

bool begins_character(char byte) { return !internal::utf8::is_tail(byte); }

}  // namespace

std::string printable(std::string_view text, std::size_t most_bytes) {
  const std::string source(text.substr(0, most_bytes + kCut.size()));
  std::string shown;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t bytes = internal::utf8::character_bytes(source.c_str() + at);
    const std::string_view character(source.data() + at, std::max<std::size_t>(bytes, 1));
    const std::string_view written = bytes != 0 && is_shown(character) ? character : "?";
    if (shown.size() + written.size() > most_bytes) return shown += kCut;
    shown += written;
    at += character.size();
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

}  // namespace tarn::profile
