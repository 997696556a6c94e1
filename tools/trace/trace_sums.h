// What a trace comes to: its calls by kind, what they asked for, and what was live, in all and by size.
//
// The idea: sizes up to 1 KiB are told apart, greater ones by four steps a doubling, as the requests of a
// buffer that grows are. So the table of any trace, also a forged one, fits into memory; and so do its live
// blocks, of which too many are refused.
#pragma once
#include <cstdint>
#include <map>

#include "trace/merge.h"

namespace tarn::trace {

inline constexpr std::uint64_t kLargestToldApart = 1024;

struct BlockSum {
  std::uint64_t blocks = 0, bytes = 0;  // bytes as they were asked for

  void operator+=(std::uint64_t size) { ++blocks, bytes += size; }
  void operator-=(std::uint64_t size) { --blocks, bytes -= size; }
};

/// Of the blocks of one size, or of all.
struct SizeSums {
  BlockSum asked;    // by allocations and by resizes, which ask for the whole block
  BlockSum at_peak;  // live when the most bytes of all sizes were
  BlockSum at_end;
};

struct TraceSums {
  std::uint64_t allocations = 0, zeroed_allocations = 0, resizes = 0, frees = 0;
  SizeSums all;
  std::map<std::uint64_t, SizeSums> by_size;  // by the greatest size, bytes, of those that are told together
  MergeCounts merged;
};

inline constexpr std::uint32_t kMostLiveBlocks = std::uint32_t{1} << 26;

/// \throws TraceError, also where more blocks are live at once
TraceSums sums_of(EventSource& source, std::uint32_t most_live_blocks = kMostLiveBlocks);

}  // namespace tarn::trace
