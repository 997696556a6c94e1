// malloc_usable_size of what is no block.
#include <malloc.h>

#include "misuse/misuse.h"

int main() {
  char local[64] = "on the stack";
  must_die_with("use of a pointer that is no block", local);
  return malloc_usable_size(opaque(&local[0])) != 0;
}
