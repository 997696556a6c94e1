// A block of a HandlerMemory is freed twice while it is kept.
#include "misuse/misuse.h"
#include "tarn/handler_memory.h"

int main() {
  tarn::HandlerMemory memory;
  void* const first = memory.allocate(64);
  void* const second = memory.allocate(64);
  memory.deallocate(first, 64);
  must_die_with("double free", first);
  memory.deallocate(opaque(first), 64);
  memory.deallocate(second, 64);
}
