// A pointer into a small block: seen at once with check:1, else when it reaches its slab.
#include "misuse/misuse.h"

int main() {
  char* const block = static_cast<char*>(opaque(malloc(100)));
  must_die_with("free of a pointer into a block", block + 16);
  free(opaque(block + 16));
  free_many_others(100);
}
