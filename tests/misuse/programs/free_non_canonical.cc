// An address no program can have: seen at once, or when it reaches its slab.
#include <stdint.h>

#include "misuse/misuse.h"

int main() {
  void* const address = reinterpret_cast<void*>(UINT64_C(0xdeadbeefdeadbeef));
  must_die_with("free of a pointer that is no block", address);
  free(opaque(address));
}
