// Memory the program has mapped itself.
#include <sys/mman.h>

#include "misuse/misuse.h"

int main() {
  void* const mapped = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must_die_with("free of a pointer that is no block", mapped);
  free(opaque(mapped));
}
