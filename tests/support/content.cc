#include "support/content.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tarn::test {
namespace {

constexpr std::size_t kEnd = 4096;  // bytes at each end of a large block
constexpr std::size_t kStep = 512;  // bytes between the words in its middle

std::uint64_t word_at(std::size_t offset, std::uint64_t pattern) {
  return (pattern ^ offset) * 0x9e3779b97f4a7c15u + pattern;
}

// Calls visit(offset, bytes) for a word at each step from `first` to `end`, and for what is left of the last
// word, until one says false. The length of whole words is a constant: the tests spend much of their time
// here.
template <typename Visit>
bool for_words(std::size_t first, std::size_t end, std::size_t step, Visit visit) {
  std::size_t offset = first;
  for (; offset + 8 <= end; offset += step)
    if (!visit(offset, std::integral_constant<std::size_t, 8>())) return false;
  return offset >= end || visit(offset, end - offset);
}

template <typename Visit>
bool for_filled_words(std::size_t size, std::size_t filled_size, Visit visit) {
  if (filled_size <= kFilledWhole) return for_words(0, size, 8, visit);
  const std::size_t tail = (filled_size - kEnd) & ~std::size_t{kStep - 1};
  return for_words(0, std::min(size, kEnd), 8, visit) &&
         for_words(kEnd, std::min(size, tail), kStep, visit) && for_words(tail, size, 8, visit);
}

}  // namespace

void fill(void* block, std::size_t size, std::uint64_t pattern) {
  char* const bytes = static_cast<char*>(block);
  for_filled_words(size, size, [&](std::size_t offset, auto length) {
    const std::uint64_t word = word_at(offset, pattern);
    std::memcpy(bytes + offset, &word, length);
    return true;
  });
}

bool holds(const void* block, std::size_t size, std::size_t filled_size, std::uint64_t pattern) {
  const char* const bytes = static_cast<const char*>(block);
  return for_filled_words(size, filled_size, [&](std::size_t offset, auto length) {
    const std::uint64_t word = word_at(offset, pattern);
    return std::memcmp(bytes + offset, &word, length) == 0;
  });
}

bool is_zero(const void* block, std::size_t size) {
  const char* const bytes = static_cast<const char*>(block);
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

}  // namespace tarn::test
