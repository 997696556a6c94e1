#include "pool/buffer_pages.h"

#include <bit>

#include "os/memory.h"

namespace tarn::internal {

std::size_t BufferPages::table_bytes() const {
  return round_up(units_ * sizeof(Span*) + (units_ + 63) / 64 * sizeof(std::uint64_t), kOsPageBytesLargest);
}

bool BufferPages::begin(void* buffer, std::size_t bytes) {
  const std::uintptr_t first = round_up(address_of(buffer), kUnitBytes), end = address_of(buffer) + bytes;
  if (end <= first || (end - first) / kUnitBytes == 0) return false;
  units_ = (end - first) / kUnitBytes;
  void* const tables = os::map(table_bytes());
  if (tables == nullptr) return false;
  start_ = reinterpret_cast<char*>(first);
  spans_ = static_cast<Span**>(tables);
  free_bits_ = reinterpret_cast<std::uint64_t*>(spans_ + units_);
  for (std::size_t unit = 0; unit < units_; ++unit) free_bits_[unit / 64] |= std::uint64_t{1} << (unit % 64);
  return true;
}

void BufferPages::end() {
  if (!is_active()) return;
  os::release(spans_, table_bytes());
  start_ = nullptr;
}

char* BufferPages::take(Span* span, std::size_t bytes, std::size_t alignment) {
  const std::size_t wanted = bytes / kUnitBytes;
  std::size_t found = 0;
  for (std::size_t unit = 0; unit < units_; ++unit) {
    if (found == 0 && free_bits_[unit / 64] == 0) {  // 64 pages in use
      unit |= 63;
      continue;
    }
    const bool may_begin = found != 0 || (address_of(start_) + unit * kUnitBytes) % alignment == 0;
    found = may_begin && is_free(unit) ? found + 1 : 0;
    if (found != wanted) continue;
    const std::size_t first = unit + 1 - wanted;
    for (std::size_t taken = first; taken <= unit; ++taken) {
      spans_[taken] = span;
      free_bits_[taken / 64] &= ~(std::uint64_t{1} << (taken % 64));
    }
    return start_ + first * kUnitBytes;
  }
  return nullptr;
}

void BufferPages::give_back(const char* start, std::size_t bytes) {
  const std::size_t first = static_cast<std::size_t>(start - start_) / kUnitBytes;
  for (std::size_t unit = first; unit < first + bytes / kUnitBytes; ++unit) {
    spans_[unit] = nullptr;
    free_bits_[unit / 64] |= std::uint64_t{1} << (unit % 64);
  }
}

}  // namespace tarn::internal
