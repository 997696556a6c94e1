// realloc of a pointer into a block.
#include "misuse/misuse.h"

int main() {
  char* const block = static_cast<char*>(opaque(malloc(100)));
  must_die_with("use of a pointer into a block", block + 16);
  return opaque(realloc(opaque(block + 16), 5000)) == nullptr;
}
