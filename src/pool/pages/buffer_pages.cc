#include "pool/pages/buffer_pages.h"

#include "base/bitmap.h"
#include "os/memory/memory.h"

namespace tarn::internal {

std::size_t BufferPages::table_bytes() const {
  return round_up(units_ * sizeof(Span*) + bitmap::words_for(units_) * sizeof(std::uint64_t),
                  kOsPageBytesLargest);
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
  bitmap::fill(free_bits_, units_);
  return true;
}

void BufferPages::end() {
  if (!is_active()) return;
  os::release(spans_, table_bytes());
  start_ = nullptr;
}

std::size_t BufferPages::find_run(std::size_t wanted, std::size_t alignment) const {
  for (std::size_t free = bitmap::find_one(free_bits_, 0, units_); free < units_;) {
    const std::uintptr_t aligned = round_up(address_of(start_) + free * kUnitBytes, alignment);
    const std::size_t first = (aligned - address_of(start_)) / kUnitBytes;
    if (first >= units_) break;
    const std::size_t end = bitmap::find_zero(free_bits_, first, units_);
    if (end - first >= wanted) return first;
    free = bitmap::find_one(free_bits_, end, units_);
  }
  return units_;
}

char* BufferPages::take(Span* span, std::size_t bytes, std::size_t alignment) {
  const std::size_t count = bytes / kUnitBytes, first = find_run(count, alignment);
  if (first == units_) return nullptr;
  for (std::size_t unit = first; unit < first + count; ++unit) spans_[unit] = span;
  bitmap::clear_range(free_bits_, first, count);
  return start_ + first * kUnitBytes;
}

void BufferPages::give_back(const char* start, std::size_t bytes) {
  const std::size_t first = static_cast<std::size_t>(start - start_) / kUnitBytes;
  const std::size_t count = bytes / kUnitBytes;
  for (std::size_t unit = first; unit < first + count; ++unit) spans_[unit] = nullptr;
  bitmap::set_range(free_bits_, first, count);
}

}  // namespace tarn::internal
