// A copy of a part of a program's memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tarn::observer {

using Bytes = std::span<const std::byte>;

/// Where a field lies in its record.
struct Field {
  std::uint32_t offset = 0;
  std::uint16_t size = 0;  // bytes; 0 of a constant, whose value is the offset
};

/// \returns the number at a field of a record; up to 8 bytes of it; 0 where the record ends before. \why
/// not an error: which records a library has is its descriptor's word, and nobody vouches for that.
inline std::uint64_t number_at(Bytes record, Field field) {
  std::uint64_t number = 0;
  const std::size_t bytes = std::min<std::size_t>(field.size, sizeof number);
  if (bytes != 0 && field.offset <= record.size() && bytes <= record.size() - field.offset)
    std::memcpy(&number, record.data() + field.offset, bytes);
  return number;
}

/// \returns the entry of an array of numbers. \pre the array has it.
template <typename Number>
Number entry_of(Bytes array, std::uint64_t index) {
  Number number;
  std::memcpy(&number, array.data() + index * sizeof number, sizeof number);
  return number;
}

}  // namespace tarn::observer
