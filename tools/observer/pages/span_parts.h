// What the bytes of a span are, of those that are resident.
#pragma once
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

struct SpanParts {
  std::uint64_t live = 0;
  std::uint64_t rounding = 0;  // around live blocks, and what no block has
  std::uint64_t free = 0;      // blocks that are free or cached, whole

  SpanParts& operator+=(const SpanParts& other);
};

/// Of the bytes from `start` to `end`. \pre they lie in the span.
/// \cost a few steps for the whole span, a step per 64 blocks for a part.
SpanParts parts_of(const Snapshot& snapshot, const Span& span, Address start, Address end);

}  // namespace tarn::observer
