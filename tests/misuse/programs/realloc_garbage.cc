// realloc of what is no block.
#include "misuse/misuse.h"

int main() {
  char local[64] = "on the stack";
  must_die_with("use of a pointer that is no block", local);
  return opaque(realloc(opaque(&local[0]), 100)) == nullptr;
}
