// Blocks that change their size: strings and vectors that grow, buffers that grow by steps beside others, and
// callers that ask how much room there is.
//
// An Api offers usable_bytes(block).
#pragma once
#include "contestant.h"
#include "growth.h"
#include "table.h"

namespace tarn::bench::resize {

inline constexpr double kRowSeconds = 0.05;
inline constexpr std::size_t kBlocks = 64;
inline constexpr std::size_t kBlockBytes = 100;
inline constexpr std::size_t kMiB = std::size_t{1} << 20;

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

/// \param calls per round
template <class Work>
void run_row(Session& session, const SeriesName& name, std::size_t calls, Work work) {
  run_timed_row(session, {.series = name}, kRowSeconds, calls, [&](unsigned) { return work; });
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
  run_row(session, series("16 to 4096 by doubling"), 1,
          Growth<Api, decltype(doubled)>{16, 4096, Neighbours::kNone, doubled});
  run_row(session, series("1 KiB to 3 MiB by half"), 1,
          Growth<Api, decltype(half_more)>{1024, 3 * kMiB, Neighbours::kNone, half_more});
  run_row(session, series("to 16 MiB by 64 KiB, with neighbours"), 1,
          Growth<Api, decltype(step_more)>{1024, 16 * kMiB, Neighbours::kSome, step_more});
}

}  // namespace tarn::bench::resize
