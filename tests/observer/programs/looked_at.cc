// A program to be looked at: two threads, pools with limits, slabs that a few survivors pin. It says "ready";
// then a line "grow" makes more live blocks, and the end of its input ends it.
#include <tarn/fixed_pool.h>
#include <tarn/heap.h>
#include <tarn/memory_pool.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kBlocks = 100'000, kBlockBytes = 48, kSurvivors = 50;

std::vector<void*> make_blocks(int count) {
  std::vector<void*> blocks;
  for (int i = 0; i < count; ++i) {
    blocks.push_back(tarn::allocate(kBlockBytes));
    std::memset(blocks.back(), 1, kBlockBytes);
  }
  return blocks;
}

/// Frees all but each 50th.
void thin_out(std::vector<void*>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i % kSurvivors != 0) tarn::deallocate(blocks[i]);
}

}  // namespace

int main() {
  tarn::FixedPool packets({.name = "packets", .block_bytes = 512, .largest_count = 1000});
  for (int i = 0; i < 950; ++i) static_cast<void>(packets.allocate());
  tarn::Heap zone({.name = "zone", .hard_limit = 10 << 20});
  static_cast<void>(zone.allocate(1 << 20));
  std::vector<void*> blocks = make_blocks(kBlocks);
  thin_out(blocks);
  std::latch has_allocated(1), may_end(1);
  std::thread other([&] {
    std::vector<void*> own = make_blocks(1000);
    has_allocated.count_down();
    may_end.wait();
  });
  has_allocated.wait();
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "grow") make_blocks(2 * kBlocks);
    std::cout << "done" << std::endl;
  }
  may_end.count_down();
  other.join();
}
