#include "observe/text_writer.h"

#include "base/utf8.h"

namespace tarn::internal {

TextWriter& TextWriter::add_decimal(std::uint64_t value) {
  FixedText<20> digits;
  digits.add_decimal(value);
  return add(std::string_view(digits.data(), digits.length()));
}

// \returns the text behind its first character.
const char* TextWriter::add_character(const char* string) {
  const std::size_t bytes = utf8::character_bytes(string);
  add(bytes == 0 ? std::string_view(utf8::kReplacement) : std::string_view(string, bytes));
  return string + (bytes == 0 ? 1 : bytes);
}

TextWriter& TextWriter::add_json_string(const char* string) {
  while (*string != '\0') {
    const auto byte = static_cast<unsigned char>(*string);
    if (*string == '"' || *string == '\\') {
      add('\\').add(*string++);
    } else if (byte < 0x20) {
      add("\\u00").add(byte < 0x10 ? '0' : '1').add("0123456789abcdef"[byte & 15]);
      ++string;
    } else {
      string = add_character(string);
    }
  }
  return *this;
}

TextWriter& TextWriter::add_label_value(const char* string) {
  while (*string != '\0') {
    if (*string == '"' || *string == '\\') {
      add('\\').add(*string++);
    } else if (*string == '\n') {
      add("\\n");
      ++string;
    } else {
      string = add_character(string);
    }
  }
  return *this;
}

void TextWriter::flush() {
  if (text_.length() != 0) sink_(text_.data(), text_.length(), context_);
  text_.clear();
}

}  // namespace tarn::internal
