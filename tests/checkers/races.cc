// A correct program: two threads take objects from each thread-safe pool, write them and give them back;
// memory wanders from one to the other through the pool alone. Told "race", two threads write one block.
#include <cstdio>
#include <thread>
#include <vector>

#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace {

struct Object {
  long words[8];
};

Object* written(void* block) {
  auto* const object = static_cast<Object*>(block);
  object->words[3] = 1;
  return object;
}

template <typename Take, typename End>
void in_two_threads(Take take, End end) {
  const auto work = [&] {
    for (int round = 0; round < 300; ++round) {
      std::vector<decltype(take())> held;
      for (int i = 0; i < 100; ++i) held.push_back(take());
      for (auto& one : held) end(one);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

template <typename Pool>
void with(Pool& pool) {
  in_two_threads([&] { return written(pool.allocate(64)); },
                 [&](Object* object) { pool.deallocate(object); });
}

void use_all_pools() {
  tarn::ObjectPool<Object> objects;
  in_two_threads([&] { return written(objects.create()); }, [&](Object* object) { objects.destroy(object); });
  tarn::SharedFixedPool records(64);
  in_two_threads([&] { return written(records.allocate()); },
                 [&](Object* object) { records.deallocate(object); });
  tarn::Heap heap;
  with(heap);
  tarn::BufferPool buffers;
  with(buffers);
  tarn::HandlePool<Object> handles;
  in_two_threads(
      [&] {
        const tarn::Handle<Object> handle = handles.create();
        written(handles.get(handle));
        return handle;
      },
      [&](tarn::Handle<Object> handle) {
        written(handles.get(handle));
        handles.destroy(handle);
      });
  in_two_threads([] { return written(tarn::allocate(64)); },
                 [](Object* object) { tarn::deallocate(object); });
  in_two_threads([&] { return buffers.allocate_shared(64); },
                 [](tarn::SharedBuffer& buffer) { tarn::SharedBuffer(buffer).data(); });
}

void race(void* block) {
  std::thread other([&] { written(block); });
  written(block);
  other.join();
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && arguments[1][0] == 'r') {
    tarn::Heap heap;
    race(tarn::allocate(64));
    race(heap.allocate(64));
  } else {
    use_all_pools();
  }
  std::puts("served");
}
