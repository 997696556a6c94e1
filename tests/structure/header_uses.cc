// Uses the templates of the public headers, so that a compiler sees them as a program's (check_headers.py).
#include <coroutine>

#include "tarn/allocator.h"
#include "tarn/arena.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"
#include "tarn/containers.h"
#include "tarn/coroutine.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/limits.h"
#include "tarn/memory_resource.h"
#include "tarn/metrics.h"
#include "tarn/object_pool.h"
#include "tarn/observe.h"
#include "tarn/options.h"
#include "tarn/pool_pointers.h"
#include "tarn/pool_use.h"
#include "tarn/profile.h"
#include "tarn/sensitive.h"
#include "tarn/small_object.h"
#include "tarn/stats.h"
#include "tarn/steady_state.h"
#include "tarn/testing.h"

namespace {

struct Base {
  Base() = default;
  Base(const Base&) = default;
  Base& operator=(const Base&) = default;
  virtual ~Base() = default;
};
struct Entity final : Base, tarn::SmallObject<Entity> {
  explicit Entity(int position) : x(position) {}
  int x;
};

struct Task {
  struct promise_type : tarn::AnyCoroutineFrame {
    static Task get_return_object() { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() {}
  };
};
Task run(std::allocator_arg_t, tarn::Heap&) { co_return; }

template <typename Pool>
void use_blocks(Pool& pool) {
  void* blocks[2];
  pool.deallocate_batch(blocks, pool.allocate_batch(2, blocks));
  pool.deallocate_run(pool.allocate_run(2), 2);
  pool.for_each_live([](void*) {});
}

template <typename Pool>
void use_objects(Pool& pool) {
  pool.for_each_live([](Entity& entity) { ++entity.x; });
  pool.destroy(pool.create(1));
  pool.make_unique(2).reset();
  pool.make_shared(3).reset();
}

template <typename On, typename... Source>
void use_containers(Source&... source) {
  typename On::template vector<int> numbers(source...);
  typename On::template map<typename On::string, typename On::string> texts(source...);
  typename On::template unordered_map<int, typename On::template vector<int>> lists(source...);
  numbers.push_back(1);
  texts.emplace("a", "b");
  lists[1].push_back(2);
}

}  // namespace

int main() {
  tarn::Heap heap("heap");
  tarn::Arena arena("arena");
  tarn::FixedPool fixed(64, "blocks");
  tarn::SharedFixedPool shared(64, "blocks");
  use_blocks(fixed);
  use_blocks(shared);
  tarn::ObjectPool<Entity, tarn::LiveObjects::kListed> entities("entities");
  use_objects(entities);
  tarn::HandlePool<Entity> handles("entities");
  const tarn::Handle<Entity> handle = handles.create(1);
  handles.for_each_live([](tarn::Handle<Entity>, Entity& entity) { ++entity.x; });
  std::size_t sum = std::hash<tarn::Handle<Entity>>()(handle) + (handles.destroy(handle) ? 1 : 0);
  tarn::BufferPool buffers("buffers");
  tarn::BufferChain chain;
  chain.append(buffers.allocate_shared(100));
  chain.append(buffers, "bytes", 5);
  for (const char byte : chain[0]) sum += byte == 'b' ? 1 : 0;
  buffers.deallocate(buffers.allocate(100), 100);
  use_containers<tarn::containers<tarn::Heap>>(heap);
  use_containers<tarn::containers<tarn::MemoryPool>>();
  tarn::memory_resource resource(heap);
  std::pmr::vector<int> numbers(4, &resource);
  sum += numbers.size() + static_cast<std::size_t>(resource.is_equal(*tarn::default_resource()));
  tarn::HandlerMemory handlers;
  handlers.deallocate(handlers.allocate(10), 10);
  sum += static_cast<std::size_t>(arena.create<Entity>(1)->x + tarn::allocate_unique<Entity>(heap, 1)->x);
  const tarn::unique_ptr<Base> base = tarn::make_unique<Entity>(1);
  const auto numbers_of_general = tarn::make_unique<int[]>(4);
  const auto numbers_of_heap = tarn::allocate_unique_for_overwrite<int[]>(heap, 4);
  const auto [room, ints] = tarn::allocator<int>().allocate_at_least(4);
  tarn::allocator<int>().deallocate(room, ints);
  sum += tarn::make_unique_for_overwrite<std::string>()->size();
  delete new Entity(1);
  TARN_EXPECT_PEAK_BELOW(100) {
    TARN_EXPECT_NO_ALLOCATION { ++sum; }
  }
  run(std::allocator_arg, heap);
  return sum == 0 ? 1 : 0;
}
