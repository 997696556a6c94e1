// Large blocks: a loop of malloc and free that touches every page, and buffers that grow by realloc, as a
// vector of bytes does. An allocator that takes each from the system and gives it back at once pays for every
// page every time.
#pragma once
#include "contestant.h"
#include "table.h"
#include "threads.h"
#include "use.h"

namespace tarn::bench::large {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::size_t kOsPageBytes = 4096;
inline constexpr double kRowSeconds = 0.05;

inline void touch_pages(void* block, std::size_t first_byte, std::size_t end_byte) {
  volatile char* const bytes = static_cast<char*>(block);
  for (std::size_t i = first_byte; i < end_byte; i += kOsPageBytes) bytes[i] = 1;
}

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

/// Grows from 1 KiB to `largest_bytes`; `next(bytes)` is the size after `bytes`.
template <class Api, class Next>
struct Growth {
  std::size_t largest_bytes;
  Next next;

  void verify(Worker&) { round(); }
  void round() {
    std::size_t bytes = kKiB;
    void* block = escape(Api::allocate(bytes));
    touch_pages(block, 0, bytes);
    while (bytes < largest_bytes) {
      const std::size_t grown_bytes = next(bytes);
      block = escape(Api::reallocate(block, grown_bytes));
      touch_pages(block, bytes, grown_bytes);
      bytes = grown_bytes;
    }
    Api::deallocate(block, bytes);
  }
};

template <class Work>
void run_row(Session& session, const Row& row, Work work) {
  if (!session.wants(row)) return;
  const Timing timing = time_rounds(1, session.budget_ns(kRowSeconds), [&](unsigned) { return work; });
  session.report(row, timing.wall_ns / static_cast<double>(timing.rounds), timing.rounds);
}

template <class Api, class Next>
void run_growth(Session& session, const SeriesName& name, std::size_t largest_bytes, Next next) {
  run_row(session, {.series = name}, Growth<Api, Next>{largest_bytes, next});
}

template <class Api>
void run(Session& session) {
  if (!session.enter("large")) return;
  for (const std::size_t bytes : session.sizes({300 * kKiB, kMiB, 4 * kMiB, 16 * kMiB}))
    run_row(session, {.series = series("pair"), .bytes = bytes}, Pair<Api>{bytes});
  run_growth<Api>(session, series("realloc, doubling to 64 MiB"), 64 * kMiB,
                  [](std::size_t bytes) { return 2 * bytes; });
  run_growth<Api>(session, series("realloc by 64 KiB to 16 MiB"), 16 * kMiB,
                  [](std::size_t bytes) { return bytes + 64 * kKiB; });
  for (const std::size_t count : session.values({10, 1000})) {
    const Row row = {.series = series("pair among %zu of 1.9 MB", count), .bytes = 3'000'000};
    if (!session.wants(row)) continue;
    const Others<Api> others(count);
    run_row(session, row, PairAmongOthers<Api>{row.bytes});
  }
}

}  // namespace tarn::bench::large
