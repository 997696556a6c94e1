// A buffer that grows by realloc, step by step, each page of it written once; then it ends.
#pragma once
#include <cstddef>

#include "timed_row.h"
#include "use.h"

namespace tarn::bench {

inline void touch_pages(void* block, std::size_t first_byte, std::size_t end_byte) {
  constexpr std::size_t kOsPageBytes = 4096;
  volatile char* const bytes = static_cast<char*>(block);
  for (std::size_t i = first_byte; i < end_byte; i += kOsPageBytes) bytes[i] = 1;
}

enum class Neighbours { kNone, kSome };

/// Grows to `largest_bytes`; `next(bytes)` is the size after `bytes`. With neighbours, a block of 300 KB is
/// allocated after each eighth step, where the buffer might have grown.
template <class Api, class Next>
struct Growth {
  std::size_t first_bytes, largest_bytes;
  Neighbours neighbours;
  Next next;

  static constexpr std::size_t kNeighbourBytes = 300'000;
  static constexpr unsigned kMostNeighbours = 64, kStepsPerNeighbour = 8;

  void verify(Worker&) { round(); }
  void round() {
    void* others[kMostNeighbours];
    unsigned count = 0, steps = 0;
    std::size_t bytes = first_bytes;
    void* block = escape(Api::allocate(bytes));
    touch_pages(block, 0, bytes);
    while (bytes < largest_bytes) {
      const std::size_t grown_bytes = next(bytes);
      block = escape(Api::reallocate(block, grown_bytes));
      touch_pages(block, bytes, grown_bytes);
      bytes = grown_bytes;
      if (neighbours == Neighbours::kSome && ++steps % kStepsPerNeighbour == 0 && count < kMostNeighbours)
        touch_pages(others[count++] = escape(Api::allocate(kNeighbourBytes)), 0, 1);
    }
    Api::deallocate(block, bytes);
    while (count != 0) Api::deallocate(others[--count], kNeighbourBytes);
  }
};

}  // namespace tarn::bench
