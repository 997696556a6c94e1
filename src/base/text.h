// Formatting without allocation: appends text to a fixed array; text that does not fit is dropped.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tarn::internal {

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
