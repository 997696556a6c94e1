// Large blocks: a loop of malloc and free that touches every page, and buffers that grow by realloc, as a
// vector of bytes does. An allocator that takes each from the system and gives it back at once pays for every
// page every time.
#pragma once
#include "contestant.h"
#include "growth.h"
#include "table.h"

namespace tarn::bench::large {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr double kRowSeconds = 0.05;

template <class Api>
struct Pair {
  std::size_t bytes;

  void verify(Worker&) { round(); }
  void round() {
    void* const block = escape(Api::allocate(bytes));
    touch_pages(block, 0, bytes);
    Api::deallocate(block, bytes);
  }
};

/// Blocks of 1.9 MB, of which the first byte is written.
template <class Api>
class Others {
 public:
  static constexpr std::size_t kBytes = 1'900'000;

  explicit Others(std::size_t count) : blocks_(count) {
    for (void*& block : blocks_) block = allocate_used<Api>(kBytes);
  }
  ~Others() {
    for (void* block : blocks_) Api::deallocate(block, kBytes);
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

 private:
  Table<void*> blocks_;
};

/// A pair of which only the first byte is written: what counts is how the block is found.
template <class Api>
struct PairAmongOthers {
  std::size_t bytes;

  void verify(Worker&) { round(); }
  void round() {
    void* const block = escape(Api::allocate(bytes));
    touch_pages(block, 0, 1);
    Api::deallocate(block, bytes);
  }
};

template <class Work>
void run_row(Session& session, const Row& row, Work work) {
  run_timed_row(session, row, kRowSeconds, 1, [&](unsigned) { return work; });
}

template <class Api>
void run(Session& session) {
  if (!session.enter("large")) return;
  for (const std::size_t bytes : session.sizes({300 * kKiB, kMiB, 4 * kMiB, 16 * kMiB}))
    run_row(session, {.series = series("pair"), .bytes = bytes}, Pair<Api>{bytes});
  const auto doubled = [](std::size_t bytes) { return 2 * bytes; };
  const auto step_more = [](std::size_t bytes) { return bytes + 64 * kKiB; };
  run_row(session, {.series = series("realloc, doubling to 64 MiB")},
          Growth<Api, decltype(doubled)>{kKiB, 64 * kMiB, Neighbours::kNone, doubled});
  run_row(session, {.series = series("realloc by 64 KiB to 16 MiB")},
          Growth<Api, decltype(step_more)>{kKiB, 16 * kMiB, Neighbours::kNone, step_more});
  for (const std::size_t count : session.values({10, 1000})) {
    const Row row = {.series = series("pair among %zu of 1.9 MB", count), .bytes = 3'000'000};
    if (!session.wants(row)) continue;
    const Others<Api> others(count);
    run_row(session, row, PairAmongOthers<Api>{row.bytes});
  }
}

}  // namespace tarn::bench::large
