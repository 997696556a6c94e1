// Containers of the standard library over the general pool, a heap, an arena and a fixed pool.
#include "tarn/allocator.h"

#include <list>
#include <map>
#include <string>
#include <vector>

#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"

template <typename T, typename Source>
using List = std::list<T, tarn::allocator<T, Source>>;

int main() {
  std::vector<int, tarn::allocator<int>> numbers(1000, 1);

  tarn::Heap heap("scores");
  using Entry = std::pair<const int, double>;
  std::map<int, double, std::less<>, tarn::allocator<Entry, tarn::Heap>> scores(heap);
  for (int i = 0; i < 1000; ++i) scores[i] = i * 0.5;

  tarn::Arena arena;
  List<std::string, tarn::Arena> names(arena);
  names.emplace_back("lives as long as the arena, whose nodes are not freed one by one");

  tarn::FixedPool nodes(64);
  List<int, tarn::FixedPool> queue(nodes);
  for (int i = 0; i < 1000; ++i) queue.push_back(i);

  const auto owned = tarn::make_unique<std::string>("freed by tarn::deleter");
  return heap.use().live_count == 1000 && nodes.live_count() == 1000 && arena.used() != 0 ? 0 : 1;
}
