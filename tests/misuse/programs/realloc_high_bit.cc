// realloc of a block whose address has got a high bit set.
#include <stdint.h>

#include "misuse/misuse.h"

int main() {
  void* const block = opaque(malloc(100));
  void* const wrong = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) | (UINT64_C(1) << 57));
  must_die_with("use of a pointer that is no block", wrong);
  return realloc(opaque(wrong), 50) == nullptr;
}
