// One order of all threads' events, told as blocks.
#include "trace/merge.h"

#include <gtest/gtest.h>

#include "trace/made_trace.h"

namespace tarn::trace {
namespace {

using test::event;
using test::made_trace;
using Kind = Happening::Kind;

struct Merged {
  std::vector<Happening> happenings;
  MergeCounts counts;
};

Merged merged(const std::vector<std::vector<Event>>& threads) {
  auto trace = made_trace(threads);
  Merged result;
  result.counts = Merger(trace, [&](const Happening& one) { result.happenings.push_back(one); }).to_end();
  return result;
}

TEST(Merge, AFreeOfAnotherThreadWaitsForTheAllocationOfTheSameNumber) {
  const Merged result =
      merged({{event(Operation::kFree, 0x1000, 0, 7)},
              {event(Operation::kAllocate, 0x2000, 8, 7), event(Operation::kAllocate, 0x1000, 8, 7)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[2].kind, Kind::kFree);
  EXPECT_EQ(result.happenings[2].block, result.happenings[1].block);
  EXPECT_EQ(result.counts.unknown_frees, 0u);
}

TEST(Merge, AnAddressIsHandedOutAgainAfterAnotherThreadsFree) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kAllocate, 0x1000, 9, 3)},
              {event(Operation::kFree, 0x1000, 0, 3)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kFree);
  EXPECT_EQ(result.happenings[2].size, 9u);
  EXPECT_EQ(result.counts.missed_frees, 0u);
}

TEST(Merge, AFreeOfAnOlderBlockIsLeftOutAndCounted) {
  const Merged result =
      merged({{event(Operation::kFree, 0x9000, 0, 1), event(Operation::kAllocate, 0x1000, 8, 2)}});
  EXPECT_EQ(result.happenings.size(), 1u);
  EXPECT_EQ(result.counts.unknown_frees, 1u);
}

TEST(Merge, ABlockWhoseFreeIsMissingEndsWhenItIsHandedOutAgain) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kAllocate, 0x1000, 8, 2)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kFree);
  EXPECT_EQ(result.counts.missed_frees, 1u);
}

TEST(Merge, AResizeKeepsItsBlock) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kResizeFrom, 0x1000, 0, 1),
               event(Operation::kResizeTo, 0x2000, 16, 1), event(Operation::kFree, 0x2000, 0, 1)}});
  ASSERT_EQ(result.happenings.size(), 3u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kResize);
  EXPECT_EQ(result.happenings[1].block, result.happenings[2].block);
}

TEST(Merge, AResizeWithoutItsSecondHalfEndsTheBlock) {
  const Merged result =
      merged({{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kResizeFrom, 0x1000, 0, 1)}});
  ASSERT_EQ(result.happenings.size(), 2u);
  EXPECT_EQ(result.happenings[1].kind, Kind::kFree);
}

TEST(Merge, ThreadsThatWaitForEachOtherEndAllTheSame) {
  const Merged result =
      merged({{event(Operation::kFree, 0x1000, 0, 1), event(Operation::kAllocate, 0x2000, 8, 1)},
              {event(Operation::kFree, 0x2000, 0, 1), event(Operation::kAllocate, 0x1000, 8, 1)}});
  EXPECT_EQ(result.counts.unknown_frees, 1u);
  EXPECT_EQ(result.happenings.size(), 3u);
}

}  // namespace
}  // namespace tarn::trace
