#include "trace/live_sizes.h"

#include <gtest/gtest.h>

#include "trace/made_trace.h"

namespace tarn::test {
namespace {

using trace::Operation;
using Counts = std::map<std::uint64_t, std::uint64_t>;

TEST(LiveSizes, AreThoseWhenMostBytesWereLive) {
  EXPECT_EQ(trace::live_sizes_at_peak(made_trace(
                {{event(Operation::kAllocate, 0x1000, 100), event(Operation::kAllocate, 0x2000, 100),
                  event(Operation::kAllocateZeroed, 0x3000, 50), event(Operation::kFree, 0x1000),
                  event(Operation::kAllocate, 0x4000, 20)}})),
            (Counts{{50, 1}, {100, 2}}));
}

TEST(LiveSizes, AResizedBlockHasItsNewSizeAlone) {
  EXPECT_EQ(trace::live_sizes_at_peak(
                made_trace({{event(Operation::kAllocate, 0x1000, 100), event(Operation::kResizeFrom, 0x1000),
                             event(Operation::kResizeTo, 0x5000, 300), event(Operation::kResizeFrom, 0x5000),
                             event(Operation::kResizeTo, 0x5000, 10)}})),
            (Counts{{300, 1}}));
}

TEST(LiveSizes, BlocksOfAllThreadsCountTogether) {
  EXPECT_EQ(trace::live_sizes_at_peak(made_trace(
                {{event(Operation::kAllocate, 0x1000, 64, 1)},
                 {event(Operation::kAllocate, 0x2000, 64, 2), event(Operation::kFree, 0x1000, 0, 3)}})),
            (Counts{{64, 2}}));
}

TEST(LiveSizes, AlignedBlocksAreLeftOut) {
  trace::Event aligned = trace::packed(
      {.operation = Operation::kAllocate, .address = 0x2000, .size = 4096, .alignment_log2 = 12});
  EXPECT_EQ(trace::live_sizes_at_peak(made_trace({{event(Operation::kAllocate, 0x1000, 64), aligned}})),
            (Counts{{64, 1}}));
}

TEST(LiveSizes, ATraceWithoutCallsHasNone) {
  EXPECT_TRUE(trace::live_sizes_at_peak(made_trace({{}})).empty());
}

}  // namespace
}  // namespace tarn::test
