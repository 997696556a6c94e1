// Formatting without allocation: appends text to a fixed array; text that does not fit is dropped.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tarn::internal {

// \why not substr and its like: they may throw, or check where a build enables checks, and so name the C++
// runtime.
/// \returns the first `count` bytes of a text, or all of it.
constexpr std::string_view front_of(std::string_view text, std::size_t count) {
  return {text.data(), count < text.size() ? count : text.size()};
}
/// \returns what lies behind the first `count` bytes.
constexpr std::string_view behind_front(std::string_view text, std::size_t count) {
  const std::size_t gone = count < text.size() ? count : text.size();
  return {text.data() + gone, text.size() - gone};
}
/// \returns the text without the characters of `blanks` at its ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) {
  while (!text.empty() && blanks.find(*text.data()) != blanks.npos) text = behind_front(text, 1);
  while (!text.empty() && blanks.find(text.end()[-1]) != blanks.npos) text = front_of(text, text.size() - 1);
  return text;
}
/// \why not starts_with: it calls substr.
constexpr bool begins_with(std::string_view text, std::string_view front) {
  return front_of(text, front.size()) == front;
}

/// \returns the value of a hexadecimal digit, in small letters; -1: the character is none.
constexpr int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

class Text {
 public:
  Text(char* storage, std::size_t capacity) : storage_(storage), capacity_(capacity) {}

  Text& add(char character) {
    if (length_ < capacity_) storage_[length_++] = character;
    return *this;
  }
  Text& add(std::string_view string) {
    for (const char character : string) add(character);
    return *this;
  }
  Text& add_decimal(std::uint64_t value) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    while (count > 0) add(digits[--count]);
    return *this;
  }
  /// With a comma before every three digits: 1,234,567.
  Text& add_grouped(std::uint64_t value) {
    if (value < 1000) return add_decimal(value);
    add_grouped(value / 1000).add(',');
    const auto last = static_cast<unsigned>(value % 1000);
    return add_decimal(last / 100).add_decimal(last / 10 % 10).add_decimal(last % 10);
  }
  Text& add_hex(std::uint64_t value) {
    add("0x");
    int shift = 60;
    while (shift > 0 && (value >> shift) == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) add("0123456789abcdef"[(value >> shift) & 15]);
    return *this;
  }
  /// Bytes with a binary unit and at most one decimal: 64 MiB, 1.5 GiB.
  Text& add_bytes(std::uint64_t bytes) {
    static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    int unit = 0;
    std::uint64_t scale = 1;
    while (unit < 4 && bytes / scale >= 1024) scale *= 1024, ++unit;
    add_decimal(bytes / scale);
    if (unit > 0 && bytes % scale * 10 / scale != 0) add('.').add_decimal(bytes % scale * 10 / scale);
    return add(kUnits[unit]);
  }

  const char* data() const { return storage_; }
  std::size_t length() const { return length_; }
  void clear() { length_ = 0; }

 private:
  char* storage_;
  std::size_t capacity_;
  std::size_t length_ = 0;
};

template <std::size_t kCapacity>
class FixedText : public Text {
 public:
  FixedText() : Text(characters_, kCapacity) {}

 private:
  char characters_[kCapacity];
};

}  // namespace tarn::internal
