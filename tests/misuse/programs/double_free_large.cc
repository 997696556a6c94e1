// A large block twice: its pages are nobody's any more.
#include "misuse/misuse.h"

int main() {
  void* const block = opaque(malloc(3 << 20));
  must_die_with("free of a pointer that is no block", block);
  free(block);
  free(opaque(block));
}
