// A hard limit: what would exceed it is refused, the program is told, and goes on.
#include "tarn/limits.h"

#include <cstdio>

#include "tarn/memory_pool.h"

int main() {
  int refusals = 0;
  tarn::set_limit_callback(
      [](const tarn::LimitEvent* event, void* count) {
        if (event->kind == TARN_HARD_LIMIT_REFUSED) ++*static_cast<int*>(count);
        std::printf("%zu of %zu bytes are held\n", event->held_bytes, event->limit_bytes);
      },
      &refusals);
  tarn::set_memory_limits({.soft = 32 << 20, .hard = 64 << 20});

  void* const fits = tarn::allocate(1 << 20);
  void* const does_not = tarn::allocate(100 << 20);
  const bool is_within = tarn::held_bytes() <= tarn::memory_limits().hard;
  tarn::deallocate(fits);
  tarn::set_limit_callback(nullptr);
  return fits != nullptr && does_not == nullptr && is_within && refusals == 1 ? 0 : 1;
}
