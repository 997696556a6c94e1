// A server's loop that must not grow once it is warm: a guard counts, reports or aborts when it does.
#include "tarn/steady_state.h"

#include <cstdio>

#include "tarn/fixed_pool.h"
#include "tarn/object_pool.h"

struct Event {
  char bytes[120];
};

int main() {
  tarn::FixedPool packets(512);
  tarn::ObjectPool<Event> events;
  packets.prewarm(1000);
  events.prewarm(1000);
  events.destroy(events.create());  // the thread's own magazine

  tarn::SteadyState guard(tarn::AtGrowth::kCount, "game loop");
  for (int tick = 0; tick < 100; ++tick) {
    void* blocks[500];
    for (void*& block : blocks) block = packets.allocate();
    Event* const event = events.create();
    for (void* block : blocks) packets.deallocate(block);
    events.destroy(event);
  }
  const bool was_steady = guard.growth_count() == 0;

  for (int i = 0; i < 2000; ++i)
    if (packets.allocate() == nullptr) return 1;
  std::printf("grew %zu times\n", guard.growth_count());
  return was_steady && guard.growth_count() != 0 ? 0 : 1;
}
