// The inlined pool of tarn/memory_pool.h, beside a malloc that must stay the system's.
#include <malloc.h>
#include <tarn/memory_pool.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main() {
  void* const block = tarn::allocate(40);
  std::memset(block, 1, 40);
  tarn::deallocate(block, 40);
  void* const theirs = std::malloc(24);
  const bool is_systems = malloc_usable_size(theirs) % 16 == 8;  // a multiple of 16 would be tarn's
  std::free(theirs);
  if (!is_systems) std::puts("uses_cpp: tarn::tarn replaced malloc");
  return is_systems ? 0 : 1;
}
