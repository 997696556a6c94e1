// A write past a block of an arena reaches the destructor that is to run behind it.
#include "misuse/misuse.h"
#include "tarn/arena.h"

struct Object {
  ~Object() { puts("the object's end"); }
};

int main() {
  tarn::Arena arena;
  char* const block = static_cast<char*>(arena.allocate(32));
  static_cast<void>(arena.create<Object>());
  memset(opaque(block), 0x41, 48);
  must_die_with("overwritten record of the library", block + 32);
  arena.reset();
}
