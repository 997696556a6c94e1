// The address of a local variable.
#include "misuse/misuse.h"

int main() {
  char local[64] = "on the stack";
  free(malloc(100));
  must_die_with("free of a pointer that is no block", local);
  free(opaque(&local[0]));
}
