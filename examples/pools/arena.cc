// Scratch memory: of a request, rewound where a part of it is done, and of a tick, counted when it overflows.
#include "tarn/arena.h"

#include <cstdio>
#include <string>

int main() {
  tarn::Arena request({.name = "request", .initial_bytes = 64 * 1024, .sensitive = true});
  auto* const line = static_cast<char*>(request.allocate(100));
  line[0] = 'x';

  const tarn::ArenaMark mark = request.mark();
  auto* const header = request.create<std::string>("a header that is too long to lie in the string itself");
  std::printf("%s: %zu of %zu bytes\n", header->c_str(), request.used(), request.capacity());
  request.rewind(mark);  // the string's destructor runs
  const bool is_rewound = request.used() == 100;
  request.reset();

  tarn::TickArena tick(16 * 1024);
  for (int i = 0; i < 100; ++i) {
    tick.begin_tick();
    if (tick.allocate(i == 50 ? 100'000 : 1000) == nullptr) return 1;
  }
  std::printf("%zu of %zu ticks needed more\n", tick.overflowed_ticks(), tick.ticks());
  return is_rewound && tick.overflowed_ticks() == 1 ? 0 : 1;
}
