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
    if (text != nullptr) copy(text, __builtin_strlen(text));
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
    if (bytes > kMostBytes) {
      bytes = kMostBytes;
      while (bytes != 0 && (text[bytes] & 0xc0) == 0x80) --bytes;  // within a character
    }
    for (std::size_t i = 0; i < bytes; ++i) text_[i] = text[i];
  }

  char text_[kMostBytes + 1] = {};
};

}  // namespace TARN_NAMESPACE
