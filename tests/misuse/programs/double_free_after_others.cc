// Two other blocks are freed in between: seen at once with check:1, else when the block reaches its slab.
#include "misuse/misuse.h"

int main() {
  void* const block = opaque(malloc(100));
  void* const others[] = {malloc(100), malloc(100)};
  must_die_with("double free", block);
  free(block);
  free(others[0]);
  free(others[1]);
  free(opaque(block));
  free_many_others(100);
}
