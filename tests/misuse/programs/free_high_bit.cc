// A block whose address has got a high bit set, as by a tag that was forgotten: the free itself sees it.
#include <stdint.h>

#include "misuse/misuse.h"

int main() {
  void* const block = opaque(malloc(100));
  void* const wrong = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) | (UINT64_C(1) << 60));
  must_die_with("free of a pointer that is no block", wrong);
  free(opaque(wrong));
  puts("the free saw nothing");
}
