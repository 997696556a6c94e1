// A small number instead of a pointer.
#include "misuse/misuse.h"

int main() {
  void* const number = reinterpret_cast<void*>(8);
  must_die_with("free of a pointer that is no block", number);
  free(opaque(number));
}
