// Which bytes are well-formed UTF-8 (The Unicode Standard, table 3-7). Programs choose the names of their
// pools, and a name is cut at a byte; a text format wants characters.
#pragma once
#include <cstddef>

namespace tarn::internal::utf8 {

constexpr bool is_between(char character, unsigned first, unsigned last) {
  const auto byte = static_cast<unsigned char>(character);
  return byte >= first && byte <= last;
}

constexpr bool is_tail(char character) { return is_between(character, 0x80, 0xbf); }

/// \returns the bytes of the character that a text begins with; 0: its first byte begins none. \pre the text
/// ends with a 0, and is not empty.
constexpr std::size_t character_bytes(const char* text) {
  if (is_between(text[0], 0x01, 0x7f)) return 1;
  if (is_between(text[0], 0xc2, 0xdf)) return is_tail(text[1]) ? 2 : 0;
  if (is_between(text[0], 0xe0, 0xef)) {
    const unsigned first = text[0] == '\xe0' ? 0xa0 : 0x80, last = text[0] == '\xed' ? 0x9f : 0xbf;
    return is_between(text[1], first, last) && is_tail(text[2]) ? 3 : 0;
  }
  if (is_between(text[0], 0xf0, 0xf4)) {
    const unsigned first = text[0] == '\xf0' ? 0x90 : 0x80, last = text[0] == '\xf4' ? 0x8f : 0xbf;
    return is_between(text[1], first, last) && is_tail(text[2]) && is_tail(text[3]) ? 4 : 0;
  }
  return 0;
}

}  // namespace tarn::internal::utf8
