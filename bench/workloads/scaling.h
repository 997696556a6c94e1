// Scaling over threads: each thread replaces random ones of its 1000 live blocks of 16 to 512 bytes. The
// figure is the wall time per replacement, all threads together: with enough cores it halves with each
// doubling of the threads, and stays where it is when they have run out.
#pragma once
#include "replacement.h"

namespace tarn::bench::scaling {

inline constexpr std::size_t kLive = 1000;
inline constexpr std::size_t kLargestBytes = 512;
inline constexpr double kRowSeconds = 0.1;

/// Powers of two up to twice the cores, and at least to 8.
inline Axis usual_threads() {
  const std::size_t cores = usable_cores();
  Axis axis;
  for (std::size_t threads = 1; threads <= 8 || threads <= 2 * cores; threads *= 2)
    if (threads <= kMaxThreads) axis.add(threads);
  return axis;
}

template <class Api>
void run(Session& session) {
  if (!session.enter("scaling")) return;
  for (const std::size_t threads : session.threads(usual_threads())) {
    const Row row = {.threads = static_cast<unsigned>(threads)};
    report_replacements<Api>(session, row, {kLive, kLargestBytes}, kRowSeconds);
  }
}

}  // namespace tarn::bench::scaling
