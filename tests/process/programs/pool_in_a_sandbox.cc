// A program whose threads share a fixed pool sets a filter that ends the process for any call which libc's
// malloc does not need; then it looks into the magazines of its threads. Exit status 77: no filter.
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "process/sandbox.h"
#include "tarn/fixed_pool.h"
#include "tarn/options.h"

namespace {

std::vector<void*> take_all(tarn::SharedFixedPool& pool) {
  std::vector<void*> blocks;
  while (void* const block = pool.allocate()) blocks.push_back(block);
  return blocks;
}

}  // namespace

int main() {
  constexpr std::size_t kMost = 300;
  tarn::SharedFixedPool pool({.block_bytes = 64, .largest_count = kMost});
  int until_the_end[2];
  if (pipe(until_the_end) != 0) return 1;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      std::vector<void*> blocks;
      for (int round = 0; round < 100; ++round) {
        for (int k = 0; k < 50; ++k) blocks.push_back(pool.allocate());
        for (; !blocks.empty(); blocks.pop_back()) pool.deallocate(blocks.back());
      }
    }).join();
  }
  std::atomic<bool> waits{false};
  threads.emplace_back([&] {
    pool.deallocate(pool.allocate());
    waits = true;
    char byte = 0;
    static_cast<void>(read(until_the_end[0], &byte, 1));
  });
  while (!waits) std::this_thread::yield();
  pool.deallocate(pool.allocate());
  if (tarn::set_option("sandbox", "on") != tarn::OptionResult::kSet) return 1;
  if (!tarn::test::allow_what_libc_needs()) _exit(77);
  for (int round = 0; round < 10; ++round) {
    const std::vector<void*> blocks = take_all(pool);
    if (blocks.size() != kMost || pool.live_count() != kMost) _exit(2);
    for (void* block : blocks) pool.deallocate(block);
    if (pool.live_count() != 0 || pool.reserve(kMost) != kMost) _exit(3);
    pool.release_unused();
  }
  _exit(0);
}
