// What traces come to: calls by kind, and what is live at the peak and at the end, by size.
#include "trace/trace_sums.h"

#include "support/error_of.h"
#include "support/prelude.h"
#include "trace/made_trace.h"

namespace tarn::trace {
namespace {

using test::event;
using test::made_trace;

TraceSums sums_of_one_thread(const std::vector<Event>& events) {
  test::MadeTrace trace = made_trace({events});
  return sums_of(trace);
}

TEST(TraceSums, CallsAreCountedByKind) {
  const TraceSums sums =
      sums_of_one_thread({event(Operation::kAllocate, 0x10, 48), event(Operation::kAllocateZeroed, 0x20, 100),
                          event(Operation::kResizeFrom, 0x10), event(Operation::kResizeTo, 0x30, 64),
                          event(Operation::kFree, 0x20), event(Operation::kFree, 0x990)});
  EXPECT_EQ(sums.allocations, 1u);
  EXPECT_EQ(sums.zeroed_allocations, 1u);
  EXPECT_EQ(sums.resizes, 1u);
  EXPECT_EQ(sums.frees, 1u);
  EXPECT_EQ(sums.merged.unknown_frees, 1u) << "of a block that is older than the trace";
  EXPECT_EQ(sums.all.asked.blocks, 3u);
  EXPECT_EQ(sums.all.asked.bytes, 48u + 100 + 64);
  EXPECT_EQ(sums.all.at_end.bytes, 64u);
}

TEST(TraceSums, SizesTellWhatIsLiveAtThePeakOfAll) {
  const TraceSums sums = sums_of_one_thread(
      {event(Operation::kAllocate, 0x10, 500), event(Operation::kAllocate, 0x20, 40),
       event(Operation::kFree, 0x10), event(Operation::kAllocate, 0x10, 40),   // 80 live
       event(Operation::kAllocate, 0x30, 700), event(Operation::kFree, 0x20),  // the peak was 780
       event(Operation::kFree, 0x30), event(Operation::kAllocate, 0x40, 500)});
  EXPECT_EQ(sums.all.at_peak.bytes, 780u);
  EXPECT_EQ(sums.all.at_peak.blocks, 3u);
  EXPECT_EQ(sums.by_size.at(40).at_peak.blocks, 2u);
  EXPECT_EQ(sums.by_size.at(40).at_end.blocks, 1u);
  EXPECT_EQ(sums.by_size.at(700).at_peak.bytes, 700u);
  EXPECT_EQ(sums.by_size.at(700).at_end.bytes, 0u);
  EXPECT_EQ(sums.by_size.at(500).at_peak.bytes, 0u) << "live before the peak and after it";
  EXPECT_EQ(sums.by_size.at(500).at_end.bytes, 500u);
}

TEST(TraceSums, ABlockThatIsResizedChangesItsSize) {
  const TraceSums sums =
      sums_of_one_thread({event(Operation::kAllocate, 0x10, 100), event(Operation::kResizeFrom, 0x10),
                          event(Operation::kResizeTo, 0x10, 300)});
  EXPECT_EQ(sums.by_size.at(100).at_peak.blocks, 0u);
  EXPECT_EQ(sums.by_size.at(300).at_peak.blocks, 1u);
  EXPECT_EQ(sums.all.at_peak.bytes, 300u) << "at no time are both live";
}

TEST(TraceSums, GreatSizesAreToldInFourStepsADoubling) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> told_as = {{0, 0},
                                                                        {1023, 1023},
                                                                        {1024, 1024},
                                                                        {1025, 1280},
                                                                        {1280, 1280},
                                                                        {1281, 1536},
                                                                        {2048, 2048},
                                                                        {2049, 2560},
                                                                        {65536, 65536},
                                                                        {65537, 81920},
                                                                        {kMostSize, kMostSize + 1}};
  for (const auto& [size, greatest] : told_as) {
    const TraceSums sums = sums_of_one_thread({event(Operation::kAllocate, 0x10, size)});
    EXPECT_EQ(sums.by_size.begin()->first, greatest) << size;
  }
}

TEST(TraceSums, MoreLiveBlocksThanHaveRoomAreRefused) {
  test::MadeTrace trace =
      made_trace({{event(Operation::kAllocate, 0x10, 1), event(Operation::kAllocate, 0x20, 1),
                   event(Operation::kFree, 0x10), event(Operation::kAllocate, 0x30, 1)}});
  EXPECT_EQ(sums_of(trace, 2).all.at_end.blocks, 2u);
  EXPECT_EQ(test::error_of<TraceError>([&] { sums_of(trace, 1); }),
            "the trace has more than 1 live blocks: too many to add up");
}

}  // namespace
}  // namespace tarn::trace
