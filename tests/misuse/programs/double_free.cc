// The same block twice in a row: seen at once.
#include "misuse/misuse.h"

int main() {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free(block);
  free(opaque(block));
}
