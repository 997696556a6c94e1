// What is live in this program, by pool, as the program itself sees it.
#include <tarn/fixed_pool.h>
#include <tarn/heap.h>
#include <tarn/memory_pool.h>
#include <tarn/observe.h>

#include <cstdio>
#include <map>
#include <string>

struct Sum {
  std::size_t blocks = 0, bytes = 0;
};

int main() {
  tarn::Heap plugin("plugin");
  tarn::FixedPool bullets({.name = "bullets", .block_bytes = 48});
  void* const text = plugin.allocate(1000);
  void* const bullet = bullets.allocate();
  void* const request = tarn::allocate(100);

  // The map allocates while the blocks are visited: no lock is held then.
  std::map<std::string, Sum> sums;
  const bool is_done = tarn::visit_blocks([&](const tarn::LiveBlock& block) {
    Sum& sum = sums[block.pool_name != nullptr ? block.pool_name : "general pool"];
    ++sum.blocks;
    sum.bytes += block.bytes;
  });
  for (const auto& [name, sum] : sums)
    std::printf("%-12s %zu blocks, %zu bytes\n", name.c_str(), sum.blocks, sum.bytes);

  std::size_t of_plugin = 0;
  const bool has_heap = tarn::visit_blocks(plugin, [&](const tarn::LiveBlock&) { ++of_plugin; });
  const bool is_so = is_done && has_heap && of_plugin == 1 && sums["plugin"].blocks == 1 &&
                     sums["bullets"].bytes == 48 && sums["general pool"].blocks >= 1;
  tarn::deallocate(request);
  bullets.deallocate(bullet);
  plugin.deallocate(text);
  return is_so ? 0 : 1;
}
