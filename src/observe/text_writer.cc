#include "observe/text_writer.h"

#include "base/printable.h"

namespace tarn::internal {

TextWriter& TextWriter::add_decimal(std::uint64_t value) {
  FixedText<20> digits;
  digits.add_decimal(value);
  return add(std::string_view(digits.data(), digits.length()));
}

TextWriter& TextWriter::add_escaped(const char* string) {
  while (*string != '\0') {
    const Character character = first_character(string);
    if (*string == '"' || *string == '\\') add('\\');
    add(character.may_be_shown ? std::string_view(string, character.bytes) : std::string_view(&kNotShown, 1));
    string += character.bytes;
  }
  return *this;
}

void TextWriter::flush() {
  if (text_.length() != 0) sink_(text_.data(), text_.length(), context_);
  text_.clear();
}

}  // namespace tarn::internal
