// What the library holds: as numbers, by pool, and as text for Prometheus.
#include "tarn/stats.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"
#include "tarn/metrics.h"
#include "tarn/pool_use.h"

int main() {
  tarn::FixedPool packets({.name = "packets", .block_bytes = 512});
  void* const packet = packets.allocate();
  const tarn::Statistics before = tarn::stats();
  void* const lost = tarn::allocate(1000);
  const auto leaked = tarn::stats().live_bytes - before.live_bytes;
  std::printf("%llu bytes more are live\n", static_cast<unsigned long long>(leaked));

  std::size_t of_packets = 0;
  tarn::for_each_pool(
      [](const tarn::PoolUse& use, void* sum) {
        if (use.name == std::string_view("packets")) *static_cast<std::size_t*>(sum) += use.live_bytes;
      },
      &of_packets);

  std::string answer;  // to GET /metrics
  const auto add = [](const char* text, std::size_t bytes, void* to) {
    static_cast<std::string*>(to)->append(text, bytes);
  };
  const bool is_written = tarn::write_metrics(add, &answer);
  tarn::deallocate(lost);
  packets.deallocate(packet);
  const bool has_pool = answer.find("name=\"packets\"") != std::string::npos;
  return leaked >= 1000 && of_packets == 512 && is_written && has_pool ? 0 : 1;
}
