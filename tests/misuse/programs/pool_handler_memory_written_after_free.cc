// A kept block of a HandlerMemory is written to: its list would lead to an address of the writer's.
#include "misuse/misuse.h"
#include "tarn/handler_memory.h"

int main() {
  static size_t target[32] = {0, 0, 4096};
  tarn::HandlerMemory memory;
  void* const block = memory.allocate(64);
  memory.deallocate(block, 64);
  size_t* const words = opaque(static_cast<size_t*>(block));
  words[0] = words[1] = reinterpret_cast<size_t>(target);
  must_die_with("overwritten record of the library", block);
  return memory.allocate(64) == target;
}
