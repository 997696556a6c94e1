// A pointer one byte into a block.
#include "misuse/misuse.h"

int main() {
  char* const block = static_cast<char*>(opaque(malloc(2000)));
  must_die_with("free of a pointer into a block", block + 1);
  free(opaque(block + 1));
  free_many_others(2000);
}
