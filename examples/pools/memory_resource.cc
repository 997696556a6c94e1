// Code that takes a std::pmr::memory_resource*, on the pools.
#include "tarn/memory_resource.h"

#include <memory_resource>
#include <string>
#include <vector>

#include "tarn/arena.h"
#include "tarn/heap.h"

static std::size_t work(std::pmr::memory_resource* resource) {
  std::pmr::vector<std::pmr::string> lines(resource);
  for (int i = 0; i < 1000; ++i) lines.emplace_back("a line that is longer than what a string holds itself");
  return lines.size();
}

int main() {
  tarn::Heap heap("lines");
  tarn::memory_resource on_heap(heap);
  tarn::Arena arena;
  tarn::memory_resource on_arena(arena);

  const std::size_t lines = work(&on_heap) + work(&on_arena) + work(tarn::default_resource());
  return lines == 3000 && heap.use().live_bytes == 0 && heap.use().peak_live_bytes != 0 ? 0 : 1;
}
