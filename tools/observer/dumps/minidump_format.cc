#include "observer/dumps/minidump_format.h"

namespace tarn::observer::minidump {
namespace {

bool is_first_half(char32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_second_half(char32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

void append_utf8(std::string& text, char32_t code) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xc0 | code >> 6), tail(0)};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  } else {
    text += {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
  }
}

}  // namespace

std::string utf8_of(const std::vector<char16_t>& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char32_t code = text[i];
    if (is_first_half(code) && i + 1 < text.size() && is_second_half(text[i + 1]))
      code = 0x10000 + ((code - 0xd800) << 10) + (text[++i] - 0xdc00u);
    else if (is_first_half(code) || is_second_half(code))
      code = '?';
    append_utf8(result, code);
  }
  return result;
}

}  // namespace tarn::observer::minidump
