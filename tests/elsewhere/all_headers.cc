// Calls at least one function of each public C++ header.
#include "elsewhere/all_headers.h"

#include <cstdio>
#include <utility>

int main() {
  struct Point {
    int x, y;
  };
  tarn::HandlePool<Point> points("points");
  const tarn::Handle<Point> handle = points.create(1, 2);
  tarn::SteadyState guard(tarn::AtGrowth::kCount);
  tarn::BufferPool packets("packets");
  tarn::BufferChain chain;
  chain.append(packets, "abc", 3);
  tarn::BufferChain front = chain.split(1);
  tarn::HandlerMemory handlers;
  handlers.deallocate(handlers.allocate(100), 100);
  TARN_EXPECT_NO_ALLOCATION { tarn::deallocate(tarn::allocate(10)); }
  std::size_t pools = 0;
  tarn::for_each_pool([](const tarn::PoolUse&, void* count) { ++*static_cast<std::size_t*>(count); }, &pools);
  tarn::start_profile(1);
  tarn::stop_profile();
  tarn::set_memory_limits({1, 2});
  char text[8];
  const bool is_as_said =
      points.at(handle).y == 2 && points.destroy(handle) && points.get(handle) == nullptr && pools > 2 &&
      front.bytes() == 1 && chain.bytes() == 2 && tarn::option("decay", text) == -1 &&
      tarn::set_option("decay", "1s") == tarn::OptionResult::kUnknownOption && tarn::held_bytes() == 0 &&
      tarn::stats().live_bytes == 0 && tarn::write_metrics(1) && use_in_another_file() == 0 &&
      tarn::visit_blocks([](const tarn::LiveBlock&) {}) && guard.growth_count() == 0;
  std::puts(is_as_said ? "ok" : "not as said");
  return is_as_said ? 0 : 1;
}
