// A pointer into a large block: seen at once.
#include "misuse/misuse.h"

int main() {
  char* const block = static_cast<char*>(opaque(malloc(3 << 20)));
  must_die_with("free of a pointer into a block", block + 4096);
  free(opaque(block + 4096));
}
