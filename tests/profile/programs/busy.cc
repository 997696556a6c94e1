// Works for a time: busy SECONDS. From two sites in the general pool, one in a fixed pool and one in a heap,
// live bytes stay as they are. It says "ready" when all is set up. With a second word, it makes no call from
// then on that does not hit.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tarn/fixed_pool.h"
#include "tarn/heap.h"

namespace {

constexpr std::size_t kLive = 4'000;

[[gnu::noinline]] void* small_site() {
  void* const block = std::malloc(100);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
[[gnu::noinline]] void* medium_site() {
  void* const block = std::malloc(3'000);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
[[gnu::noinline]] void* pool_site(tarn::SharedFixedPool& pool) {
  void* const block = pool.allocate();
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
[[gnu::noinline]] void* heap_site(tarn::Heap& heap) {
  void* const block = heap.allocate(700);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}

/// Blocks of one site, of which the oldest is replaced at each step.
template <typename Make, typename End>
struct Window {
  Make make;
  End end;
  std::vector<void*> blocks = std::vector<void*>(kLive);
  std::size_t next = 0;

  void step() {
    if (blocks[next] != nullptr) end(blocks[next]);
    blocks[next] = make();
    next = (next + 1) % kLive;
  }
};
template <typename Make, typename End>
Window(Make, End) -> Window<Make, End>;

}  // namespace

using Clock = std::chrono::steady_clock;

namespace {

void only_hit(Clock::time_point end) {
  std::free(small_site());
  std::puts("ready");
  std::fflush(stdout);
  while (Clock::now() < end)
    for (int i = 0; i < 1'000; ++i) std::free(small_site());
}

}  // namespace

int main(int count, char** words) {
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(words[1]));
  if (count > 2) return only_hit(end), 0;
  tarn::SharedFixedPool pool({.name = "packets", .block_bytes = 500});
  tarn::Heap heap({.name = "level"});
  Window small{[] { return small_site(); }, [](void* block) { std::free(block); }};
  Window medium{[] { return medium_site(); }, [](void* block) { std::free(block); }};
  Window packets{[&] { return pool_site(pool); }, [&](void* block) { pool.deallocate(block); }};
  Window level{[&] { return heap_site(heap); }, [&](void* block) { heap.deallocate(block); }};
  std::thread other([] {});  // so that the pool is one of several threads
  other.join();
  std::puts("ready");
  std::fflush(stdout);
  while (Clock::now() < end) {
    for (std::size_t i = 0; i < kLive; ++i) {
      small.step();
      medium.step();
      packets.step();
      level.step();
    }
    std::free(std::malloc(std::size_t{1} << 20));  // a call that no magazine serves
  }
}
