// A plugin that brings the library along: it may be the only one in its process that knows of it.
#include <string>
#include <vector>

#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"

extern "C" void* tarn_plugin_allocate(std::size_t size) { return tarn::allocate(size); }
extern "C" void tarn_plugin_deallocate(void* block) { tarn::deallocate(block); }

extern "C" int tarn_plugin_work() {
  tarn::FixedPool pool(64);
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(pool.allocate());
  for (void* block : blocks) pool.deallocate(block);
  return blocks.size() == 1000 ? 0 : 1;
}
