#include "support/content.h"

#include <algorithm>
#include <cstring>

namespace tarn::test {
namespace {

constexpr std::size_t kEnd = 4096;  // bytes at each end of a large block
constexpr std::size_t kStep = 512;  // bytes between the words in its middle

std::uint64_t word_at(std::size_t offset, std::uint64_t pattern) {
  return (pattern ^ offset) * 0x9e3779b97f4a7c15u + pattern;
}

// Calls visit(offset, length) for pieces of up to a word from `first` to `end`, until one says false.
template <typename Visit>
bool for_pieces(std::size_t first, std::size_t end, std::size_t step, Visit visit) {
  for (std::size_t offset = first; offset < end; offset += step)
    if (!visit(offset, std::min<std::size_t>(end - offset, 8))) return false;
  return true;
}

template <typename Visit>
bool for_filled_pieces(std::size_t size, std::size_t filled_size, Visit visit) {
  if (filled_size <= kFilledWhole) return for_pieces(0, size, 8, visit);
  const std::size_t tail = (filled_size - kEnd) & ~std::size_t{kStep - 1};
  return for_pieces(0, std::min(size, kEnd), 8, visit) &&
         for_pieces(kEnd, std::min(size, tail), kStep, visit) && for_pieces(tail, size, 8, visit);
}

}  // namespace

void fill(void* block, std::size_t size, std::uint64_t pattern) {
  char* const bytes = static_cast<char*>(block);
  for_filled_pieces(size, size, [&](std::size_t offset, std::size_t length) {
    const std::uint64_t word = word_at(offset, pattern);
    std::memcpy(bytes + offset, &word, length);
    return true;
  });
}

bool holds(const void* block, std::size_t size, std::size_t filled_size, std::uint64_t pattern) {
  const char* const bytes = static_cast<const char*>(block);
  return for_filled_pieces(size, filled_size, [&](std::size_t offset, std::size_t length) {
    const std::uint64_t word = word_at(offset, pattern);
    return std::memcmp(bytes + offset, &word, length) == 0;
  });
}

bool is_zero(const void* block, std::size_t size) {
  const char* const bytes = static_cast<const char*>(block);
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

}  // namespace tarn::test
