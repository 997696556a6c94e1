// Pages of 4 KiB in a caller's memory: a bit per page says whether the page is free, a table names the span
// that has it. Bits and table lie elsewhere, so that the caller's memory holds only blocks.
//
// Invariant: a page's bit is one exactly when its entry in the table is nullptr.
// Threads: the owner's lock, which find() needs too.
#pragma once
#include <cstddef>
#include <cstdint>

#include "page/spans/span.h"

namespace tarn::internal {

class BufferPages {
 public:
  static constexpr std::size_t kUnitBytes = 4096;

  /// \returns false when the buffer has no whole page or memory for the tables is refused.
  bool begin(void* buffer, std::size_t bytes);
  void end();

  bool is_active() const { return start_ != nullptr; }

  /// Takes the first run of free pages at a multiple of `alignment` bytes and enters `span` for it; nullptr
  /// when there is none.
  char* take(Span* span, std::size_t bytes, std::size_t alignment);
  void give_back(const char* start, std::size_t bytes);

  Span* find(const void* pointer) const {
    const std::size_t offset = address_of(pointer) - address_of(start_);
    return offset < units_ * kUnitBytes ? spans_[offset / kUnitBytes] : nullptr;
  }

 private:
  friend class ObservedLayout;

  std::size_t find_run(std::size_t wanted, std::size_t alignment) const;
  std::size_t table_bytes() const;

  char* start_ = nullptr;
  std::size_t units_ = 0;
  Span** spans_ = nullptr;
  std::uint64_t* free_bits_ = nullptr;
};

}  // namespace tarn::internal
