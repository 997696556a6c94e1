#include "thread/observation/recorded_call.h"

#include <pthread.h>

#include "support/forked.h"
#include "support/prelude.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "thread/observation/observation.h"

namespace tarn::internal {
namespace {

using trace::Event;
using trace::Operation;

/// Records while it exists, and tells what the thread has put down since.
class Recorded {
 public:
  Recorded() {
    observation.record(Recording::kOn);
    deallocate(allocate(1));  // the first one gives the thread its ring
    first_ = ring().written();
  }
  ~Recorded() { observation.record(Recording::kOff); }

  static CallRing& ring() { return this_heap()->calls_made; }
  std::vector<Event> events() {
    std::vector<Event> events;
    const std::uint64_t end = ring().written();
    // The vector's own calls are put down behind those that are looked at.
    for (std::uint64_t i = first_; i < end; ++i) events.push_back(ring().event(i));
    return events;
  }

 private:
  std::uint64_t first_ = 0;
};

/// a: allocated, z: zeroed, f: freed, r and R: resized from and to.
std::string letters_of(const std::vector<Event>& events) {
  std::string letters;
  for (const Event& event : events) letters += "?azfrR????"[static_cast<unsigned>(event.operation())];
  return letters;
}

bool is_of(const Event& event, const void* block, std::size_t size) {
  return event.address() == address_of(block) && event.size() == size;
}

TEST(RecordedCall, PutsDownWhatWasAskedFor) {
  Recorded recorded;
  void* const block = allocate(100);
  void* const large = allocate(1 << 20);
  void* const zeroed = allocate_zeroed(3, 50);
  void* const large_zeroed = allocate_zeroed(1, 500'000);
  void* const aligned = allocate(200, 256);
  void* const page = allocate(100'000, 4096);
  for (void* freed : {block, large, zeroed, large_zeroed, aligned, page}) deallocate(freed);
  const std::vector<Event> events = recorded.events();
  ASSERT_EQ(letters_of(events), "aazzaaffffff");
  EXPECT_TRUE(is_of(events[0], block, 100));
  EXPECT_TRUE(is_of(events[1], large, 1 << 20));
  EXPECT_TRUE(is_of(events[2], zeroed, 150));
  EXPECT_TRUE(is_of(events[3], large_zeroed, 500'000));
  EXPECT_TRUE(is_of(events[4], aligned, 200));
  EXPECT_EQ(events[4].alignment_log2(), 8u);
  EXPECT_EQ(events[5].alignment_log2(), 12u);
  EXPECT_TRUE(is_of(events[6], block, 0));
}

TEST(RecordedCall, ResizesAreOneCallWhereverTheBlockGoes) {
  Recorded recorded;
  void* const first = reallocate(nullptr, 40);
  void* const moved = reallocate(first, 4000);
  void* const in_place = reallocate(moved, 3900);
  void* const large = reallocate(in_place, 1 << 20);
  deallocate(reallocate(large, 2 << 20));
  const std::vector<Event> events = recorded.events();
  ASSERT_EQ(letters_of(events), "arRrRrRrRf");
  EXPECT_TRUE(is_of(events[1], first, 0));
  EXPECT_TRUE(is_of(events[2], moved, 4000));
  EXPECT_TRUE(is_of(events[4], in_place, 3900));
}

TEST(RecordedCall, BatchesArePutDownOneByOne) {
  Recorded recorded;
  void* blocks[40];
  ASSERT_EQ(allocate_batch(64, 40, blocks), 40u);
  deallocate_batch(blocks, 40);
  EXPECT_EQ(letters_of(recorded.events()), std::string(40, 'a') + std::string(40, 'f'));
}

TEST(RecordedCall, OrderNumbersRise) {
  Recorded recorded;
  for (int i = 0; i < 1000; ++i) deallocate(reallocate(allocate(100), 1000));
  std::uint64_t last = 0;
  for (const Event& event : recorded.events()) {
    EXPECT_GT(event.low_order(), last);
    last = event.low_order();
  }
}

TEST(RecordedCall, PoolsAndScopesArePutDownByTheirPagesAlone) {
  Heap heap;
  FixedPool pool({.block_bytes = 64});
  ObjectPool<long> objects;
  void* const older = allocate(64);
  Recorded recorded;
  pool.deallocate(pool.allocate());
  heap.deallocate(heap.allocate(100));
  objects.destroy(objects.create(7));
  {
    const HeapScope scope(heap);
    deallocate(allocate(100));
    deallocate(older);
  }
  EXPECT_EQ(letters_of(recorded.events()), "f");
}

TEST(RecordedCall, ABlockMayMoveFromAPoolToTheGeneralPool) {
  FixedPool pool({.block_bytes = 64});
  void* const block = pool.allocate();
  Recorded recorded;
  void* const moved = reallocate(block, 1000);
  deallocate(moved);
  const std::vector<Event> events = recorded.events();
  ASSERT_EQ(letters_of(events), "af");
  EXPECT_TRUE(is_of(events[0], moved, 1000));
}

TEST(RecordedCall, AThreadHasARingFromItsFirstCallOnAndLeavesItToTheNext) {
  Recorded recorded;
  for (int i = 0; i < 3; ++i)
    std::thread([] {
      const CallRing* const before = this_heap() == nullptr ? nullptr : &this_heap()->calls_made;
      EXPECT_EQ(before, nullptr);
      const void* const block = allocate(100);
      ASSERT_NE(this_heap(), nullptr);
      const CallRing& ring = this_heap()->calls_made;
      EXPECT_TRUE(is_of(ring.event(ring.written() - 1), block, 100));
      deallocate(const_cast<void*>(block));
    }).join();
}

TEST(RecordedCall, CallsBehindTheEndOfAThreadAreCounted) {
  Recorded recorded;
  const std::uint64_t before = unseen_calls;
  static pthread_key_t key;
  // Destructors of keys run in rounds: this one runs behind the one that ends the heap.
  pthread_key_create(&key, [](void* rounds) {
    if (rounds == reinterpret_cast<void*>(1)) return deallocate(allocate(100));
    pthread_setspecific(key, reinterpret_cast<void*>(1));
  });
  std::thread([] {
    deallocate(allocate(100));
    pthread_setspecific(key, reinterpret_cast<void*>(2));
  }).join();
  pthread_key_delete(key);
  EXPECT_GE(unseen_calls, before + 2);
}

TEST(RecordedCall, NothingIsPutDownOrKeptWhenItIsOver) {
  { const Recorded recorded; }
  EXPECT_FALSE(Recorded::ring().has_memory());
  const std::uint64_t written = Recorded::ring().written();
  deallocate(reallocate(allocate(100), 1000));
  deallocate(allocate(100, 64));
  EXPECT_EQ(Recorded::ring().written(), written);
}

TEST(RecordedCall, NothingIsRecordedWhereAnOptionMakesEveryCallSlow) {
  thread_limits.every_call_is_slow = true;
  observation.record(Recording::kOn);
  EXPECT_FALSE(watch_switches.is_recording());
  thread_limits.every_call_is_slow = false;
}

TEST(RecordedCall, AChildOfAForkIsNotRecorded) {
  Recorded recorded;
  const int status = test::forked([] {
    const std::uint64_t written = Recorded::ring().written();
    deallocate(allocate(100));
    return watch_switches.is_recording() || Recorded::ring().written() != written ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(watch_switches.is_recording());
}

TEST(RecordedCall, AProfileGoesOnWhenARecordingEnds) {
  observation.watch(1 << 30);
  { const Recorded recorded; }
  EXPECT_TRUE(this_thread().is_watched());
  observation.watch(0);
  EXPECT_FALSE(this_thread().is_watched());
}

TEST(RecordedCall, AnEarlyRecordingNeedsNoProfile) {
  Recorded recorded;
  EXPECT_TRUE(this_thread().is_watched());
  deallocate(allocate(100));
  EXPECT_EQ(letters_of(recorded.events()), "af");
}

}  // namespace
}  // namespace tarn::internal
