// Which of this program's calls asked for the memory that is live, as a profile of it says.
#include <tarn/heap.h>
#include <tarn/memory_pool.h>
#include <tarn/profile.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

namespace {

struct Sum {
  double blocks = 0, bytes = 0;
};

[[gnu::noinline]] std::vector<void*> load_textures() {
  std::vector<void*> textures(100);
  std::ranges::generate(textures, [] { return tarn::allocate(4000); });
  return textures;
}

[[gnu::noinline]] std::vector<void*> load_scripts(tarn::Heap& plugin) {
  std::vector<void*> scripts(50);
  std::ranges::generate(scripts, [&] { return plugin.allocate(1000); });
  return scripts;
}

}  // namespace

int main() {
  tarn::Heap plugin("plugin");
  tarn::start_profile(1);  // every block; a server takes 512 * 1024
  const std::vector<void*> textures = load_textures();
  const std::vector<void*> scripts = load_scripts(plugin);
  tarn::stop_profile();  // what was sampled stays until it is freed

  // The map allocates while the samples are visited: no lock is held then.
  std::map<std::uint64_t, Sum> by_pool;
  tarn::visit_samples([&](const tarn::Sample& sample) {
    Sum& sum = by_pool[sample.pool];
    sum.blocks += sample.weight;
    sum.bytes += sample.weight * static_cast<double>(sample.bytes);
  });
  for (const auto& [pool, sum] : by_pool)
    std::printf("pool %llu: %.0f blocks, %.0f bytes\n", static_cast<unsigned long long>(pool), sum.blocks,
                sum.bytes);

  const bool is_so = tarn::profile_interval() == 0 && by_pool.size() == 2 && by_pool[0].bytes >= 100 * 4000 &&
                     by_pool.rbegin()->second.blocks == 50;
  for (void* const texture : textures) tarn::deallocate(texture);
  for (void* const script : scripts) tarn::deallocate(script);
  std::size_t left = 0;
  tarn::visit_samples([&](const tarn::Sample& sample) { left += sample.bytes == 4000 || sample.pool != 0; });
  return is_so && left == 0 ? 0 : 1;
}
