// Blocks that change their size: strings and vectors that grow, buffers that grow by steps beside others, and
// callers that ask how much room there is.
//
// An Api offers usable_bytes(block).
#pragma once
#include "contestant.h"
#include "table.h"
#include "threads.h"
#include "use.h"

namespace tarn::bench::resize {

inline constexpr double kRowSeconds = 0.05;
inline constexpr std::size_t kBlocks = 64;
inline constexpr std::size_t kBlockBytes = 100;
inline constexpr std::size_t kOsPageBytes = 4096;
inline constexpr std::size_t kMiB = std::size_t{1} << 20;

inline void touch_pages(void* block, std::size_t first_byte, std::size_t end_byte) {
  volatile char* const bytes = static_cast<char*>(block);
  for (std::size_t i = first_byte; i < end_byte; i += kOsPageBytes) bytes[i] = 1;
}

template <class Api>
class LiveBlocks {
 public:
  LiveBlocks() : blocks_(kBlocks) {
    for (void*& block : blocks_) block = allocate_used<Api>(kBlockBytes);
  }
  ~LiveBlocks() {
    for (void* block : blocks_) Api::deallocate(block, kBlockBytes);
  }
  LiveBlocks(const LiveBlocks&) = delete;
  LiveBlocks& operator=(const LiveBlocks&) = delete;

  auto begin() { return blocks_.begin(); }
  auto end() { return blocks_.end(); }

 private:
  Table<void*> blocks_;
};

template <class Api>
struct InPlace {
  LiveBlocks<Api>* blocks;

  void verify(Worker&) { round(); }
  void round() {
    std::size_t bytes = kBlockBytes;
    for (void*& block : *blocks) {
      bytes ^= 3;
      block = escape(Api::reallocate(block, bytes));
    }
  }
};

template <class Api>
struct Asked {
  LiveBlocks<Api>* blocks;

  void verify(Worker&) { round(); }
  void round() {
    std::size_t sum = 0;
    for (void* block : *blocks) sum += Api::usable_bytes(block);
    asm volatile("" : : "r"(sum));
  }
};

/// Grows to `largest_bytes`; `next(bytes)` is the size after `bytes`. With neighbours, a block of 300 KB is
/// allocated after each eighth step, where the buffer might have grown.
template <class Api, class Next>
struct Growth {
  std::size_t first_bytes, largest_bytes;
  bool has_neighbours;
  Next next;

  static constexpr std::size_t kNeighbourBytes = 300'000;
  static constexpr unsigned kMostNeighbours = 64, kStepsPerNeighbour = 8;

  void verify(Worker&) { round(); }
  void round() {
    void* neighbours[kMostNeighbours];
    unsigned count = 0, steps = 0;
    std::size_t bytes = first_bytes;
    void* block = escape(Api::allocate(bytes));
    touch_pages(block, 0, bytes);
    while (bytes < largest_bytes) {
      const std::size_t grown_bytes = next(bytes);
      block = escape(Api::reallocate(block, grown_bytes));
      touch_pages(block, bytes, grown_bytes);
      bytes = grown_bytes;
      if (has_neighbours && ++steps % kStepsPerNeighbour == 0 && count < kMostNeighbours)
        touch_pages(neighbours[count++] = escape(Api::allocate(kNeighbourBytes)), 0, 1);
    }
    Api::deallocate(block, bytes);
    while (count != 0) Api::deallocate(neighbours[--count], kNeighbourBytes);
  }
};

/// \param calls per round
template <class Work>
void run_row(Session& session, const SeriesName& name, std::size_t calls, Work work) {
  const Row row = {.series = name};
  if (!session.wants(row)) return;
  const Timing timing = time_rounds(1, session.budget_ns(kRowSeconds), [&](unsigned) { return work; });
  session.report(row, timing.wall_ns / static_cast<double>(timing.rounds * calls), timing.rounds * calls);
}

template <class Api, class Next>
void run_growth(Session& session, const SeriesName& name, Growth<Api, Next> growth) {
  run_row(session, name, 1, growth);
}

template <class Api>
void run(Session& session) {
  if (!session.enter("resize")) return;
  {
    LiveBlocks<Api> blocks;
    run_row(session, series("a call in place"), kBlocks, InPlace<Api>{&blocks});
    run_row(session, series("a call for the usable size"), kBlocks, Asked<Api>{&blocks});
  }
  const auto doubled = [](std::size_t bytes) { return 2 * bytes; };
  const auto half_more = [](std::size_t bytes) { return bytes + bytes / 2; };
  const auto step_more = [](std::size_t bytes) { return bytes + 64 * 1024; };
  run_growth(session, series("16 to 4096 by doubling"),
             Growth<Api, decltype(doubled)>{16, 4096, false, doubled});
  run_growth(session, series("1 KiB to 3 MiB by half"),
             Growth<Api, decltype(half_more)>{1024, 3 * kMiB, false, half_more});
  run_growth(session, series("to 16 MiB by 64 KiB, with neighbours"),
             Growth<Api, decltype(step_more)>{1024, 16 * kMiB, true, step_more});
}

}  // namespace tarn::bench::resize
