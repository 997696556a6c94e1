// Uses memory until the system refuses more, twice.
#pragma once
#include <cerrno>
#include <cstdio>

#include "support/content.h"
#include "support/pools.h"
#include "support/sizes.h"

namespace tarn::test {

/// Allocates blocks of a size until there are none, checks them all, frees them, and begins again.
/// \returns 0 when at least `least` bytes could be had each time; else 1 or what went wrong.
inline int use_all_memory(std::size_t size, std::size_t least) {
  static void* blocks[1 << 21];
  for (int round = 0; round < 2; ++round) {
    std::size_t count = 0;
    errno = 0;
    while (count < sizeof blocks / sizeof blocks[0] &&
           (blocks[count] = PoolUnderTest::allocate(size)) != nullptr)
      fill(blocks[count], size < 4096 ? size : 4096, count), ++count;
    if (count * size > std::size_t{4} << 30) return 2;  // the limit did not hold
    if (errno != ENOMEM) return 3;
    for (std::size_t i = 0; i < count; ++i)
      if (!holds(blocks[i], size < 4096 ? size : 4096, i)) return 4;
    for (std::size_t i = 0; i < count; ++i) PoolUnderTest::deallocate(blocks[i]);
    if (count * size < least) {
      std::printf("%zu MiB in blocks of %zu bytes\n", count * size / kMiB, size);
      return 1;
    }
  }
  return 0;
}

}  // namespace tarn::test
