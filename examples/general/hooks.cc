// Compiled with -DTARN_VALGRIND, where Valgrind's header is installed: memcheck sees the blocks of pools, and
// reports what is used after it was freed. Outside of Valgrind nothing changes.
#include "tarn/hooks.h"

#include <cstdio>
#include <cstring>

#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool packets(64);
  char* const packet = static_cast<char*>(packets.allocate());
  std::strcpy(packet, "valid until it is freed");
  std::puts(packet);
  packets.deallocate(packet);
#if defined(TARN_VALGRIND)
  // Nothing of a freed block may be read; 0 is "not run by Valgrind".
  return !RUNNING_ON_VALGRIND || VALGRIND_CHECK_MEM_IS_ADDRESSABLE(packet, 64) != 0 ? 0 : 1;
#else
  return 0;
#endif
}
