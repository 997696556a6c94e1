// The 128 buckets of the Windows Low Fragmentation Heap (source 001), and what the preset `lfh128` has in
// their places. That heap's sizes are multiples of 8. Here a block above 8 bytes is aligned to 16, so sizes
// are multiples of 16: 24, 40 ... 248 are no classes, and the next larger bucket serves them.
#pragma once
#include <cstdint>
#include <vector>

namespace tarn::tool {

struct Bucket {
  unsigned number;          // from 1 on
  std::uint32_t bytes;      // of the heap's largest request for it
  std::uint32_t served_by;  // bytes of the block of `lfh128` that serves that request

  bool is_class() const { return bytes == served_by; }
  double waste_percent() const { return 100.0 * (served_by - bytes) / served_by; }
};

std::vector<Bucket> list_buckets();

}  // namespace tarn::tool
