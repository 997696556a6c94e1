// Every header of the pools must be of use to programs built without exceptions.
#include "tarn/allocator.h"
#include "tarn/arena.h"
#include "tarn/asio_allocator.h"
#include "tarn/containers.h"
#include "tarn/coroutine.h"
#include "tarn/fixed_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/memory_resource.h"
#include "tarn/object_pool.h"
#include "tarn/small_object.h"
#include "tarn/steady_state.h"

struct Point : tarn::SmallObject<Point> {
  explicit Point(int position) : x(position) {}
  int x;
};

int main() {
  tarn::FixedPool fixed({.block_bytes = 32, .largest_count = 1});
  if (fixed.allocate() == nullptr || fixed.allocate() != nullptr) return 1;
  tarn::ObjectPool<Point> points;
  Point* const point = points.try_create(4);
  if (point == nullptr || point->x != 4) return 2;
  points.destroy(point);
  tarn::Heap heap;
  tarn::source_allocator<int, tarn::Heap> numbers(heap);
  numbers.deallocate(numbers.allocate(10), 10);
  tarn::Arena arena;
  if (arena.create<Point>(1)->x != 1) return 3;
  delete new Point(1);
  if (tarn::allocate_unique<const Point>(heap, 5)->x != 5) return 4;
  if (tarn::allocate_shared<Point>(heap, 6)->x != 6) return 5;
  if (heap.use().live_count != 0) return 5;
  tarn::HandlerMemory memory;
  memory.deallocate(memory.allocate(100), 100);
  if (memory.kept_count() != 1) return 6;
  const tarn::vector<tarn::string> texts(3);
  if (texts.size() != 3) return 7;
  return 0;
}
