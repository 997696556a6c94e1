// Large blocks: a loop of malloc and free that touches every page, and buffers that grow by realloc, as a
// vector of bytes does. An allocator that takes each from the system and gives it back at once pays for every
// page every time.
#include "allocator_under_test.h"
#include "clock.h"
#include "groups.h"
#include "threads.h"

namespace tarn::bench {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kOsPageBytes = 4096;
constexpr double kRowSeconds = 0.1;

struct Span {
  const char* name;
  std::size_t bytes;
};
constexpr Span kSpans[] = {{"300K", 300 * kKiB}, {"1M", kMiB}, {"4M", 4 * kMiB}, {"16M", 16 * kMiB}};

void touch_pages(void* block, std::size_t first_byte, std::size_t end_byte) {
  volatile char* const bytes = static_cast<char*>(block);
  for (std::size_t i = first_byte; i < end_byte; i += kOsPageBytes) bytes[i] = 1;
}

struct Pair {
  std::size_t bytes;

  void verify(Worker&) { round(); }
  void round() {
    void* const block = allocate(bytes);
    touch_pages(block, 0, bytes);
    deallocate(block, bytes);
  }
};

/// Grows from 1 KiB to `largest_bytes`; `next(bytes)` is the size after `bytes`.
template <class Next>
struct Growth {
  std::size_t largest_bytes;
  Next next;

  void verify(Worker&) { round(); }
  void round() {
    std::size_t bytes = kKiB;
    void* block = allocate(bytes);
    touch_pages(block, 0, bytes);
    while (bytes < largest_bytes) {
      const std::size_t grown_bytes = next(bytes);
      block = reallocate(block, grown_bytes);
      touch_pages(block, bytes, grown_bytes);
      bytes = grown_bytes;
    }
    deallocate(block, bytes);
  }
};

template <class Work>
void run_row(Session& session, const RowName& name, Work work) {
  if (!session.wants(name)) return;
  const Timing timing = time_rounds(1, session.budget_ns(kRowSeconds), [&](unsigned) { return work; });
  session.report(name, timing.wall_ns / static_cast<double>(timing.rounds), timing.rounds);
}

}  // namespace

void run_large_loop(Session& session) {
  for (const Span& span : kSpans) run_row(session, row_name("pair/%s", span.name), Pair{span.bytes});
  run_row(session, row_name("realloc/double/64M"),
          Growth{64 * kMiB, [](std::size_t bytes) { return 2 * bytes; }});
  run_row(session, row_name("realloc/64K-steps/16M"),
          Growth{16 * kMiB, [](std::size_t bytes) { return bytes + 64 * kKiB; }});
}

}  // namespace tarn::bench
