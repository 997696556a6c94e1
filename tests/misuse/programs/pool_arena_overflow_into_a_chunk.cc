// A write before an arena's first block reaches the record of its chunk.
#include "misuse/misuse.h"
#include "tarn/arena.h"

int main() {
  alignas(64) static char buffer[4096];
  tarn::Arena arena(buffer, sizeof buffer);
  static_cast<void>(arena.allocate(32));
  memset(opaque(&buffer[0]), 0x41, 16);
  must_die_with("overwritten record of the library", buffer);
  arena.reset();
}
