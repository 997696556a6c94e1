// Slots, turns and paces of scripts.
#include "trace/script.h"

#include <gtest/gtest.h>

#include <map>

#include "trace/made_trace.h"

namespace tarn::trace {
namespace {

using test::event;
using test::made_trace;

std::vector<Event> churn(std::uint64_t base, std::size_t count, std::uint64_t every) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back(event(Operation::kAllocate, base + i % 8 * 64, 32, i * every));
    events.push_back(event(Operation::kFree, base + i % 8 * 64, 0, i * every));
  }
  return events;
}

TEST(Script, OneThreadMakesAllCallsInOneOrder) {
  const Script script = script_of(made_trace({churn(0x1000, 50, 1), churn(0x9000, 50, 1)}), Threads::kOne);
  EXPECT_EQ(script.head.thread_count, 1u);
  EXPECT_EQ(script.call_count, 200u);
}

TEST(Script, SlotsAreUsedAgain) {
  const Script script = script_of(made_trace({churn(0x1000, 500, 1)}), Threads::kOne);
  EXPECT_EQ(script.head.slot_count, 1u);
  EXPECT_EQ(script.peak_live_blocks, 1u);
  EXPECT_EQ(script.peak_live_bytes, 32u);
}

TEST(Script, TheTurnsOfASlotAreAllThereOnce) {
  const Script script =
      script_of(made_trace({churn(0x1000, 100, 1), churn(0x9000, 100, 2)}), Threads::kAsRecorded);
  std::map<std::uint32_t, std::vector<std::uint32_t>> turns;
  for (const Step& step : script.steps)
    if (step.action() < Action::kPace) turns[step.slot].push_back(step.turn);
  EXPECT_EQ(turns.size(), script.head.slot_count);
  for (auto& [slot, own] : turns) {
    std::sort(own.begin(), own.end());
    for (std::uint32_t i = 0; i < own.size(); ++i) EXPECT_EQ(own[i], i) << slot;
  }
}

TEST(Script, AThreadSaysHowFarItIsNoLaterThanOthersMayBeAhead) {
  // The second thread makes a call now and then, between thousands of the first's.
  const Script script =
      script_of(made_trace({churn(0x1000, 20000, 1), churn(0x9000, 10, 2000)}), Threads::kAsRecorded);
  const ScriptThread& rare = script.threads[1];
  std::uint64_t paces = 0;
  for (std::uint64_t i = 0; i < rare.step_count; ++i)
    paces += script.steps[rare.first_step + i].action() == Action::kPace;
  EXPECT_EQ(paces, 10u);
}

TEST(Script, MemoryIsLookedAtWhenMostIsLive) {
  std::vector<Event> events = churn(0x1000, 1000, 1);
  events.insert(events.begin() + 777, event(Operation::kAllocate, 0x70000, 1 << 20, 388));
  const Script script = script_of(made_trace({events}), Threads::kOne);
  const auto peak = std::find_if(script.steps.begin(), script.steps.end(),
                                 [](const Step& step) { return step.size() == 1 << 20; });
  ASSERT_NE(peak, script.steps.end());
  EXPECT_EQ(script.largest_bytes, 1u << 20);
  EXPECT_EQ((peak + 1)->action(), Action::kSample);
}

}  // namespace
}  // namespace tarn::trace
