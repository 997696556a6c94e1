#include "thread/watch/call_ring.h"

#include "os/memory/memory.h"
#include "support/prelude.h"
#include "thread/watch/watch_switches.h"

namespace tarn::internal {
namespace {

using trace::Operation;

/// A ring while calls are recorded, outside of any heap.
class CallRingTest : public ::testing::Test {
 protected:
  CallRingTest() { watch_switches.recording = Recording::kOn; }
  ~CallRingTest() override {
    ring_.end();
    watch_switches.recording = Recording::kOff;
  }
  void add(std::size_t size) { ring_.add(Operation::kAllocate, &ring_, size, CallRing::order()); }

  CallRing ring_;
};

TEST_F(CallRingTest, KeepsWhatAnEventSays) {
  ring_.add(Operation::kResizeTo, &ring_, 12'345, 77, 6);
  const trace::Event event = ring_.event(0);
  EXPECT_EQ(event.operation(), Operation::kResizeTo);
  EXPECT_EQ(event.address(), address_of(&ring_));
  EXPECT_EQ(event.size(), 12'345u);
  EXPECT_EQ(event.low_order(), 77u);
  EXPECT_EQ(event.alignment_log2(), 6u);
}

TEST_F(CallRingTest, GoesRoundWhileItsEventsAreFetched) {
  for (std::uint64_t i = 0; i < 3 * CallRing::kRoom; ++i) {
    add(i);
    ASSERT_EQ(ring_.event(i).size(), i);
    ring_.note_fetched(i + 1);
  }
  EXPECT_EQ(ring_.lost(), 0u);
}

TEST_F(CallRingTest, EachCallHasANumberOfItsOwn) {
  for (int i = 0; i < 1000; ++i) add(1);
  for (int i = 1; i < 1000; ++i) EXPECT_EQ(ring_.event(i).low_order(), ring_.event(i - 1).low_order() + 1);
}

TEST_F(CallRingTest, AThreadWithAFullRingWaitsForTheTool) {
  for (std::uint64_t i = 0; i < CallRing::kRoom; ++i) add(i);
  std::atomic<bool> has_added{false};
  std::thread writer([&] {
    add(CallRing::kRoom);
    has_added = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_added);
  ring_.note_fetched(1);
  writer.join();
  EXPECT_EQ(ring_.written(), CallRing::kRoom + 1);
  EXPECT_EQ(ring_.event(CallRing::kRoom).size(), CallRing::kRoom);
  EXPECT_EQ(ring_.lost(), 0u);
}

TEST_F(CallRingTest, AToolThatIsGoneEndsTheRecordingOnce) {
  const std::uint32_t generation = watch_switches.generation;
  for (std::uint64_t i = 0; i <= CallRing::kRoom; ++i) add(i);
  EXPECT_FALSE(watch_switches.is_recording());
  EXPECT_EQ(watch_switches.generation, generation + 1);
  EXPECT_EQ(ring_.written(), CallRing::kRoom);
}

TEST_F(CallRingTest, ASwitchEndsTheWaitAndNothingIsLost) {
  for (std::uint64_t i = 0; i < CallRing::kRoom; ++i) add(i);
  std::thread writer([&] { add(CallRing::kRoom); });
  watch_switches.recording = Recording::kEnding;
  writer.join();
  EXPECT_EQ(ring_.written(), CallRing::kRoom);
  EXPECT_EQ(ring_.lost(), 0u);
}

TEST_F(CallRingTest, ARefusedRingCountsWhatItLoses) {
  os::set_fault_hook_for_test([](os::Call) { return os::Fault::kRefused; });
  add(1);
  os::set_fault_hook_for_test(nullptr);
  EXPECT_EQ(ring_.lost(), 1u);
  add(2);
  EXPECT_EQ(ring_.written(), 1u);
  EXPECT_EQ(ring_.event(0).size(), 2u);
}

TEST_F(CallRingTest, HasNoMemoryAfterItsEndAndGoesOnInANewOne) {
  EXPECT_FALSE(ring_.has_memory());
  add(1);
  EXPECT_TRUE(ring_.has_memory());
  ring_.end();
  EXPECT_FALSE(ring_.has_memory());
  add(2);
  EXPECT_EQ(ring_.event(1).size(), 2u);
}

}  // namespace
}  // namespace tarn::internal
