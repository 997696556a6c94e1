// realloc of a block that has been freed; seen when the block is freed by it again.
#include "misuse/misuse.h"

int main() {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free(block);
  free(opaque(realloc(opaque(block), 5000)));
  free_many_others(100);
}
