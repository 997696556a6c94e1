// realloc of a pointer into a large block.
#include "misuse/misuse.h"

int main() {
  char* const block = static_cast<char*>(opaque(malloc(3 << 20)));
  must_die_with("use of a pointer into a block", block + 4096);
  return opaque(realloc(opaque(block + 4096), 5 << 20)) == nullptr;
}
