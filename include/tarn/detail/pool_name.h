// A pool's name, as any kind of string. \why not std::string_view: a pool has a fourth of its lines to read.
#pragma once
#include <concepts>
#include <cstddef>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

/// A copy of up to 31 bytes of a string, whole characters of UTF-8. Empty, as from nullptr: the usual name of
/// such a pool.
class PoolName {
 public:
  constexpr PoolName() noexcept = default;
  constexpr PoolName(const char* text) noexcept {
    std::size_t bytes = 0;
    while (text != nullptr && bytes <= kMostBytes && text[bytes] != '\0') ++bytes;
    copy(text, bytes);
  }
  /// A std::string, a std::string_view and the like.
  template <typename String>
  requires requires(const String& text) {
    { text.data() } -> std::convertible_to<const char*>;
    { text.size() } -> std::convertible_to<std::size_t>;
  }
  constexpr PoolName(const String& text) noexcept { copy(text.data(), text.size()); }

  constexpr const char* text() const noexcept { return text_; }
  constexpr bool is_empty() const noexcept { return text_[0] == '\0'; }

 private:
  static constexpr std::size_t kMostBytes = 31;

  constexpr void copy(const char* text, std::size_t bytes) {
    const bool is_cut = bytes > kMostBytes;
    if (is_cut) bytes = kMostBytes;
    for (std::size_t i = 0; i < bytes; ++i) text_[i] = text[i];
    if (!is_cut) return;
    for (std::size_t length = 1; length < 4; ++length) {  // of what is there of the last character
      const auto first = static_cast<unsigned char>(text_[kMostBytes - length]);
      if ((first & 0xc0) == 0x80) continue;
      const std::size_t whole = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
      if (whole > length) text_[kMostBytes - length] = '\0';
      return;
    }
  }

  char text_[kMostBytes + 1] = {};
};

}  // namespace TARN_NAMESPACE
