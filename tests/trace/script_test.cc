// Slots, turns and paces of scripts.
#include "trace/script.h"

#include "support/prelude.h"
#include "trace/made_trace.h"

namespace tarn::trace {
namespace {

using test::event;
using test::made_trace;
using test::MadeTrace;
using test::ReadScript;
using test::script_of;

std::vector<Event> churn(std::uint64_t base, std::size_t count, std::uint64_t every) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back(event(Operation::kAllocate, base + i % 8 * 64, 32, i * every));
    events.push_back(event(Operation::kFree, base + i % 8 * 64, 0, i * every));
  }
  return events;
}

TEST(Script, OneThreadMakesAllCallsInOneOrder) {
  const ReadScript script =
      script_of(made_trace({churn(0x1000, 50, 1), churn(0x9000, 50, 1)}), Threads::kOne);
  EXPECT_EQ(script.head.thread_count, 1u);
  EXPECT_EQ(script.call_count, 200u);
}

TEST(Script, SlotsAreUsedAgain) {
  const ReadScript script = script_of(made_trace({churn(0x1000, 500, 1)}), Threads::kOne);
  EXPECT_EQ(script.head.slot_count, 1u);
  EXPECT_EQ(script.peak_live_blocks, 1u);
  EXPECT_EQ(script.peak_live_bytes, 32u);
}

TEST(Script, TheTurnsOfASlotAreAllThereOnce) {
  const ReadScript script =
      script_of(made_trace({churn(0x1000, 100, 1), churn(0x9000, 100, 2)}), Threads::kAsRecorded);
  std::map<std::uint32_t, std::vector<std::uint32_t>> turns;
  for (const std::vector<Step>& steps : script.steps)
    for (const Step& step : steps)
      if (step.action() < Action::kPace) turns[step.slot].push_back(step.turn);
  EXPECT_EQ(turns.size(), script.head.slot_count);
  for (auto& [slot, own] : turns) {
    std::sort(own.begin(), own.end());
    for (std::uint32_t i = 0; i < own.size(); ++i) EXPECT_EQ(own[i], i) << slot;
  }
}

TEST(Script, AThreadSaysHowFarItIsNoLaterThanOthersMayBeAhead) {
  // The second thread makes a call now and then, between thousands of the first's.
  const ReadScript script =
      script_of(made_trace({churn(0x1000, 20000, 1), churn(0x9000, 10, 2000)}), Threads::kAsRecorded);
  const std::vector<Step>& rare = script.steps[1];
  EXPECT_EQ(std::count_if(rare.begin(), rare.end(),
                          [](const Step& step) { return step.action() == Action::kPace; }),
            10);
}

TEST(Script, MemoryIsLookedAtWhenMostIsLive) {
  std::vector<Event> events = churn(0x1000, 1000, 1);
  events.insert(events.begin() + 777, event(Operation::kAllocate, 0x70000, 1 << 20, 388));
  const ReadScript script = script_of(made_trace({events}), Threads::kOne);
  const std::vector<Step>& steps = script.steps.front();
  const auto peak =
      std::find_if(steps.begin(), steps.end(), [](const Step& step) { return step.size() == 1 << 20; });
  ASSERT_NE(peak, steps.end());
  EXPECT_EQ(script.largest_bytes, 1u << 20);
  EXPECT_EQ((peak + 1)->action(), Action::kSample);
}

/// The calls of all threads, without what is told beside them.
std::vector<Action> calls_of(const ReadScript& script) {
  std::vector<Action> calls;
  for (const std::vector<Step>& steps : script.steps)
    for (const Step& step : steps)
      if (step.action() < Action::kPace) calls.push_back(step.action());
  return calls;
}

TEST(Script, OfAWindowHasTheCallsInItButNoFreeOfAnOlderBlock) {
  const auto made = [] {
    return made_trace(
        {{event(Operation::kAllocate, 0x1000, 8, 1), event(Operation::kAllocate, 0x2000, 8, 2),
          event(Operation::kAllocate, 0x3000, 8, 3), event(Operation::kFree, 0x1000, 0, 4),
          event(Operation::kResizeFrom, 0x2000, 0, 5), event(Operation::kResizeTo, 0x4000, 90, 5),
          event(Operation::kFree, 0x3000, 0, 6), event(Operation::kFree, 0x4000, 0, 7)}});
  };
  const ReadScript all = script_of(made(), Threads::kOne);
  EXPECT_EQ(all.call_count, 7u);
  const ReadScript part = script_of(made(), Threads::kOne, {.from = 2, .until = 6});
  EXPECT_EQ(calls_of(part), (std::vector<Action>{Action::kAllocate, Action::kAllocate, Action::kFree}));
  EXPECT_EQ(part.call_count, 3u);
  EXPECT_EQ(part.peak_live_bytes, 98u);
}

TEST(Script, TheNumbersOfBlocksAreThoseOfLiveOnes) {
  MadeTrace made = made_trace({churn(0x1000, 5000, 1), churn(0x9000, 5000, 1)});
  std::uint32_t largest = 0;
  Merger(made, [&](const Happening& one) { largest = std::max(largest, one.block); }).to_end();
  EXPECT_LT(largest, 4u);
}

using Counts = std::map<std::uint64_t, std::uint64_t>;

Counts sizes_at_peak(MadeTrace made) {
  return script_of(std::move(made), Threads::kAsRecorded).sizes_at_peak;
}

TEST(LiveSizes, AreThoseWhenMostBytesWereLive) {
  EXPECT_EQ(sizes_at_peak(made_trace(
                {{event(Operation::kAllocate, 0x1000, 100), event(Operation::kAllocate, 0x2000, 100),
                  event(Operation::kAllocateZeroed, 0x3000, 50), event(Operation::kFree, 0x1000),
                  event(Operation::kAllocate, 0x4000, 20)}})),
            (Counts{{50, 1}, {100, 2}}));
}

TEST(LiveSizes, AResizedBlockHasItsNewSizeAlone) {
  EXPECT_EQ(sizes_at_peak(
                made_trace({{event(Operation::kAllocate, 0x1000, 100), event(Operation::kResizeFrom, 0x1000),
                             event(Operation::kResizeTo, 0x5000, 300), event(Operation::kResizeFrom, 0x5000),
                             event(Operation::kResizeTo, 0x5000, 10)}})),
            (Counts{{300, 1}}));
}

TEST(LiveSizes, BlocksOfAllThreadsCountTogether) {
  EXPECT_EQ(sizes_at_peak(made_trace(
                {{event(Operation::kAllocate, 0x1000, 64, 1)},
                 {event(Operation::kAllocate, 0x2000, 64, 2), event(Operation::kFree, 0x1000, 0, 3)}})),
            (Counts{{64, 2}}));
}

TEST(LiveSizes, AlignedBlocksAreLeftOut) {
  Event aligned =
      packed({.operation = Operation::kAllocate, .address = 0x2000, .size = 4096, .alignment_log2 = 12});
  EXPECT_EQ(sizes_at_peak(made_trace({{event(Operation::kAllocate, 0x1000, 64), aligned}})),
            (Counts{{64, 1}}));
}

TEST(LiveSizes, ATraceWithoutCallsHasNone) { EXPECT_TRUE(sizes_at_peak(made_trace({{}})).empty()); }

}  // namespace
}  // namespace tarn::trace
