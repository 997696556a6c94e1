// Containers of the standard library over the general pool, a heap, an arena and a fixed pool.
#include "tarn/allocator.h"

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"

template <typename T, typename Source>
using List = std::list<T, tarn::source_allocator<T, Source>>;

struct Player {
  std::string name;
};

int main() {
  std::vector<int, tarn::allocator<int>> numbers(1000, 1);

  tarn::Heap heap("scores");
  using Entry = std::pair<const int, double>;
  std::map<int, double, std::less<>, tarn::source_allocator<Entry, tarn::Heap>> scores(heap);
  for (int i = 0; i < 1000; ++i) scores[i] = i * 0.5;

  tarn::Arena arena;
  List<std::string, tarn::Arena> names(arena);
  names.emplace_back("stays as long as the arena, which frees all nodes at once");

  tarn::FixedPool nodes(64);
  List<int, tarn::FixedPool> queue(nodes);
  for (int i = 0; i < 1000; ++i) queue.push_back(i);

  const auto owned = tarn::make_unique<std::string>("freed by tarn::deleter");
  tarn::FixedPool players(64);  // an object and its control block in one block
  const auto shared = tarn::allocate_shared<Player>(players, Player{"ends with its last pointer"});
  if (players.live_count() != 1) return 2;
  return heap.use().live_count == 1000 && nodes.live_count() == 1000 && arena.used() != 0 ? 0 : 1;
}
