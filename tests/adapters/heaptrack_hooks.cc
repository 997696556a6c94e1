// Uses each pool once, and compares what a profiler was told.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"

static std::size_t told(const char* counter) {
  const auto* const count = static_cast<std::size_t*>(dlsym(RTLD_DEFAULT, counter));
  return count != nullptr ? *count : 0;
}

int main(int count, char**) {
  tarn::FixedPool fixed(64);
  fixed.deallocate(fixed.allocate());
  tarn::ObjectPool<int> objects;
  objects.destroy(objects.create(1));
  tarn::Heap heap;
  heap.deallocate(heap.allocate(100));
  tarn::Arena arena;
  if (arena.allocate(30) == nullptr) return 1;
  std::printf("%zu blocks, %zu bytes, %zu freed\n", told("fake_allocated"), told("fake_bytes"),
              told("fake_freed"));
  const bool is_under = count > 1;
  return told("fake_allocated") == (is_under ? 3 : 0) && told("fake_freed") == (is_under ? 3 : 0) ? 0 : 1;
}
