// Knows nothing of tarn: the linker decided which malloc and operator new it gets.
// \why the sizes tell: a block of glibc's has 8 bytes more than a multiple of 16, one of tarn's has none.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

int main() {
  char* const from_libc = strdup("a word of more than eight bytes");
  const auto from_new = std::make_unique<std::string>(100, 'x');
  const bool is_tarns =
      malloc_usable_size(from_libc) % 16 == 0 && malloc_usable_size(from_new.get()) % 16 == 0;
  std::free(from_libc);
  if (!is_tarns) std::puts("uses_malloc: malloc or new is still the system's");
  return is_tarns ? 0 : 1;
}
