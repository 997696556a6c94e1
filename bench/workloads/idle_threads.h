// Threads that have done their work and wait for more: each of 64 takes 500 blocks of 16 to 1,024 bytes and
// frees them, 20 times over, and then sleeps. The figure is what is resident after three seconds.
#pragma once
#include <time.h>

#include "contestant.h"
#include "random.h"
#include "resident.h"
#include "table.h"
#include "threads.h"
#include "use.h"

namespace tarn::bench::idle_threads {

inline constexpr std::size_t kBlocks = 500;
inline constexpr int kBursts = 20;
inline constexpr time_t kIdleSeconds = 3;

template <class Api>
void burst(Random& random, Table<void*>& blocks) {
  for (void*& block : blocks) block = allocate_used<Api>(random.between(16, 1024));
  for (void* const block : blocks) Api::free(block);
}

template <class Api>
void run(Session& session) {
  if (!session.enter("idle_threads")) return;
  for (const std::size_t count : session.threads({1, 64})) {
    const auto threads = static_cast<unsigned>(count);
    const Row row = {.threads = threads, .temperature = Temperature::kCold, .metric = "idle_rss_bytes"};
    if (!session.wants(row)) continue;
    long idle_kib = 0;
    run_on_threads(threads, [&](Worker& worker) {
      worker.meet();
      {
        Random random(worker.index() + 1);
        Table<void*> blocks(kBlocks);
        for (int i = 0; i < kBursts; ++i) burst<Api>(random, blocks);
      }
      worker.meet();
      const timespec idle = {kIdleSeconds, 0};  // at any scale: what decays does so in its own time
      nanosleep(&idle, nullptr);
      if (worker.index() == 0) idle_kib = resident_memory().now_kib;
      worker.meet();
    });
    session.report(row, 1024.0 * static_cast<double>(idle_kib), {threads * kBlocks});
  }
}

}  // namespace tarn::bench::idle_threads
