// The mark that brings each free of a pool's block to the pool's slow door (SpanHead::kWatched): while the
// process's allocations are watched all spans of pools have it, later those that still hold a sampled block.
//
// Invariant: while is_on(), each span of a pool has the mark, but for those that are just being made or
// marked; a span with a sampled block always has it. \why two stores before two loads: a span that is being
// made is in the page map before it looks at is_on(), and begin() changes that before it looks at the map.
// Threads: any, with no lock needed.
#pragma once
#include <atomic>

#include "page/spans/span.h"

namespace tarn::internal {

class WatchedSpans {
 public:
  bool is_on() const { return is_on_.load(std::memory_order_seq_cst); }

  /// From now on all spans of pools have the mark. \cost a step per page of the address space in use.
  void begin();
  void end() { is_on_.store(false, std::memory_order_seq_cst); }

  /// Call when the page map names a new span of a pool, before the pool uses it.
  void note_new(Span& span) {
    if (is_on()) [[unlikely]]
      span.set_mark(detail::SpanHead::kWatched);
  }

  /// A sample falls on a live block of the span.
  void note_sample(Span& span) {
    span.sampled_count.fetch_add(1, std::memory_order_seq_cst);
    span.set_mark(detail::SpanHead::kWatched);
  }
  /// The sample of a block of it is gone.
  void forget_sample(Span& span) { span.sampled_count.fetch_sub(1, std::memory_order_seq_cst); }

  /// Takes the mark away unless it is needed: call in the slow door that it led to.
  void unmark_if_idle(Span& span);

 private:
  std::atomic<bool> is_on_{false};
};

extern WatchedSpans watched_spans;

}  // namespace tarn::internal
