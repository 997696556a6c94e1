// Which characters of a name may be shown. Who chooses a name (of a pool, a thread, a function, a file) may
// be hostile, and a terminal, a page or a reader of JSON obeys some characters, not shows them. This is
// the one table of these, for the library and the tools.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

// Which bytes are well-formed UTF-8 (The Unicode Standard, table 3-7): a name is cut at a byte, a text format
// wants characters.
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

namespace tarn::internal {

/// Stands for each character that is not shown, and each byte that belongs to no character.
constexpr char kNotShown = '?';

struct CodeRange {
  std::uint32_t first, last;
};

// Controls (C0, DEL, C1), formatting characters (Unicode's category Cf: joiners, marks of direction, tags),
// separators of lines, what combines with the character before, blanks that take no column or look like
// nothing, and what is no character. Ascending.
constexpr CodeRange kCodesNotShown[] = {
    {0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},       {0x300, 0x36f},     {0x483, 0x489},
    {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
    {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff},   {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},   {0x20d0, 0x20ff},
    {0x2800, 0x2800},   {0x3164, 0x3164},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffc},   {0xfffe, 0xffff},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1345f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff}};

constexpr bool is_shown(std::uint32_t code) {
  for (const CodeRange& range : kCodesNotShown)
    if (code <= range.last) return code < range.first;
  return true;
}

struct Character {
  std::size_t bytes;   // at least 1
  std::uint32_t code;  // 0: the byte belongs to no character
  bool may_be_shown;
};

/// The character that a text begins with. \pre the text ends with a 0, and is not empty.
constexpr Character first_character(const char* text) {
  const std::size_t bytes = utf8::character_bytes(text);
  if (bytes == 0) return {1, 0, false};
  std::uint32_t code = static_cast<unsigned char>(text[0]);
  if (bytes > 1) code &= 0x7fu >> bytes;
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  return {bytes, code, is_shown(code)};
}

/// Adds at most `most` bytes of a name that somebody else chose. \param text has add(string_view)
template <typename Writer>
void add_shown(Writer& text, const char* name, std::size_t most) {
  while (*name != '\0') {
    const Character character = first_character(name);
    const std::string_view shown(character.may_be_shown ? name : &kNotShown,
                                 character.may_be_shown ? character.bytes : 1);
    if (shown.size() > most) return;
    text.add(shown);
    most -= shown.size();
    name += character.bytes;
  }
}

}  // namespace tarn::internal
