// delete of what is no block.
#include "misuse/misuse.h"

int main() {
  char local[64] = "on the stack";
  must_die_with("free of a pointer that is no block", local);
  ::operator delete(opaque(static_cast<void*>(local)));
}
