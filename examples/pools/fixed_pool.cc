// Packets of at most 512 bytes from a fixed pool: one block each, several side by side for a large one, and a
// cap.
#include "tarn/fixed_pool.h"

#include <cstdio>
#include <cstring>

int main() {
  tarn::FixedPool packets({
      .name = "packets",
      .block_bytes = 512,
      .largest_count = 1000,
      .initial_count = 100,
  });

  void* const packet = packets.allocate();
  std::memset(packet, 0, packets.block_bytes());

  // 1300 bytes: three blocks side by side.
  void* const large = packets.allocate_run(3);
  std::memset(large, 0, 3 * packets.block_bytes());
  std::printf("%zu live of %zu\n", packets.live_count(), packets.capacity());

  packets.deallocate(packet);
  packets.deallocate_run(large, 3);

  while (packets.allocate() != nullptr) {
  }
  const bool is_full = packets.live_count() == 1000 && packets.usable_count() == 0;
  packets.clear();
  std::printf("%zu bytes given back\n", packets.release_unused());
  return is_full && packets.capacity() == 0 ? 0 : 1;
}
