// Figures and times are invented: no test waits, and none takes memory.
#include "page/give_back/give_back_policy.h"

#include "support/prelude.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint64_t kHourMs = 3600 * 1000;

/// A heap that frees and takes again, as the page cache would tell the policy of it.
struct Heap {
  GiveBackPolicy policy;
  std::size_t dirty = 0, clean = 0;

  explicit Heap(std::size_t threshold) : policy(threshold) {}

  void free(std::size_t bytes) { dirty += bytes; }
  void take(std::size_t bytes) {
    const std::size_t warm = bytes < dirty ? bytes : dirty;
    dirty -= warm;
    clean -= bytes - warm;
    policy.note_low(dirty);
    policy.note_clean_use(bytes - warm, dirty);
  }
  /// \returns `bytes`, which went back.
  std::size_t purge(std::size_t bytes) {
    dirty -= bytes;
    clean += bytes;
    policy.note_low(dirty);
    return bytes;
  }

  std::size_t look() {
    const std::size_t bytes = purge(policy.lasting_excess(dirty));
    policy.note_given_back(bytes);
    return bytes;
  }
  std::size_t give_back_at_once() {
    const std::size_t bytes = purge(policy.excess_at_once(dirty));
    policy.note_given_back_at_once(bytes);
    return bytes;
  }
  std::size_t tick() { return purge(policy.tick(dirty)); }
};

TEST(GiveBackPolicy, ALimitThatDoesNotAdaptStaysWhereItWasSet) {
  GiveBackPolicy policy(64);
  policy.set_threshold(0, GiveBackPolicy::Adapts::kNo);
  EXPECT_EQ(policy.excess_at_once(40), 40u);
  policy.note_given_back(40);
  policy.note_clean_use(30, 0);
  EXPECT_EQ(policy.excess_at_once(30), 30u);
  policy.set_threshold(0);
  policy.note_given_back(30);
  policy.note_clean_use(30, 0);
  EXPECT_EQ(policy.excess_at_once(30), 0u) << "one that adapts rises";
}

TEST(GiveBackPolicy, UpToTheLimitNothingIsExcess) {
  Heap heap(64 * kMiB);
  heap.free(64 * kMiB);
  EXPECT_FALSE(heap.policy.exceeds_limit(heap.dirty));
  EXPECT_EQ(heap.give_back_at_once(), 0u);
  heap.free(1);
  EXPECT_TRUE(heap.policy.exceeds_limit(heap.dirty));
  EXPECT_EQ(heap.give_back_at_once(), 1u);
}

TEST(GiveBackPolicy, WhatIsExcessFromOneLookToTheNextGoesBack) {
  Heap heap(64 * kMiB);
  heap.free(100 * kMiB);
  EXPECT_EQ(heap.look(), 0u) << "the watch begins";
  EXPECT_EQ(heap.look(), 36 * kMiB);
  EXPECT_EQ(heap.look(), 0u);
}

TEST(GiveBackPolicy, AShortPeakIsNoLastingExcess) {
  Heap heap(64 * kMiB);
  heap.free(100 * kMiB);
  heap.look();
  heap.take(40 * kMiB);
  heap.free(40 * kMiB);
  EXPECT_EQ(heap.look(), 0u) << "it was needed in between";
  EXPECT_EQ(heap.look(), 36 * kMiB) << "now it was not";
}

TEST(GiveBackPolicy, OnlyThePartThatNobodyNeededIsLastingExcess) {
  Heap heap(64 * kMiB);
  heap.free(100 * kMiB);
  heap.look();
  heap.take(20 * kMiB);
  heap.free(50 * kMiB);
  EXPECT_EQ(heap.look(), 16 * kMiB);
}

TEST(GiveBackPolicy, TheLimitRisesByWhatTheProgramAsksForAgain) {
  Heap heap(64 * kMiB);
  heap.free(100 * kMiB);
  heap.look();
  ASSERT_EQ(heap.look(), 36 * kMiB);
  heap.take(64 * kMiB);
  EXPECT_EQ(heap.policy.limit(), 64 * kMiB) << "those were warm";
  heap.take(20 * kMiB);
  EXPECT_EQ(heap.policy.limit(), 84 * kMiB);
  heap.clean += 100 * kMiB;
  heap.take(50 * kMiB);
  EXPECT_EQ(heap.policy.limit(), 100 * kMiB) << "no more than went back";
}

TEST(GiveBackPolicy, AProgramThatFreesAndRefillsItsHeapSoonKeepsIt) {
  Heap heap(64 * kMiB);
  std::size_t given_back = 0;
  for (int round = 0; round < 10; ++round) {
    heap.free(500 * kMiB);
    given_back = heap.give_back_at_once();
    EXPECT_EQ(given_back, round == 0 ? 436 * kMiB : 0u) << round;
    heap.take(500 * kMiB);
  }
}

TEST(GiveBackPolicy, WhatWasGivenBackBeforeTheLastTickDoesNotRaiseTheLimit) {
  Heap heap(64 * kMiB);
  heap.free(100 * kMiB);
  heap.give_back_at_once();
  heap.tick();
  heap.take(100 * kMiB);
  EXPECT_EQ(heap.policy.limit(), 64 * kMiB);
}

TEST(GiveBackPolicy, WhatNobodyNeedsFromTickToTickGoesBackBelowTheLimitToo) {
  Heap heap(64 * kMiB);
  heap.free(10 * kMiB);
  EXPECT_EQ(heap.tick(), 0u) << "it has just come";
  heap.take(4 * kMiB);
  heap.free(4 * kMiB);
  EXPECT_EQ(heap.tick(), 6 * kMiB);
  EXPECT_EQ(heap.tick(), 4 * kMiB);
  EXPECT_EQ(heap.tick(), 0u);
}

TEST(GiveBackPolicy, TheLimitHalvesTowardsTheThresholdWhileMemoryIsUnused) {
  Heap heap(64 * kMiB);
  heap.free(1000 * kMiB);
  heap.give_back_at_once();
  heap.take(1000 * kMiB);
  ASSERT_EQ(heap.policy.limit(), 1000 * kMiB);
  heap.tick();
  heap.tick();
  EXPECT_EQ(heap.policy.limit(), 1000 * kMiB) << "all is in use, so nothing is known";
  for (const std::size_t limit : {500, 250, 125, 64, 64}) {
    heap.free(kMiB);
    heap.tick();
    heap.tick();
    EXPECT_EQ(heap.policy.limit(), limit * kMiB);
  }
}

TEST(GiveBackPolicy, TheLimitFallsWhileTheHeapGrowsBesideDirtyPages) {
  Heap heap(64 * kMiB);
  heap.free(40 * kMiB);
  heap.policy.note_clean_use(30 * kMiB, heap.dirty);
  EXPECT_EQ(heap.policy.limit(), 34 * kMiB);
  EXPECT_TRUE(heap.policy.exceeds_limit(heap.dirty));
  heap.policy.note_clean_use(30 * kMiB, heap.dirty);
  EXPECT_EQ(heap.policy.limit(), 8 * kMiB);
  heap.policy.validate(heap.dirty);
}

TEST(GiveBackPolicy, AHeapThatGrowsWithoutDirtyPagesKeepsItsLimit) {
  Heap heap(64 * kMiB);
  heap.policy.note_clean_use(500 * kMiB, 0);
  EXPECT_EQ(heap.policy.limit(), 64 * kMiB);
  heap.policy.keep(10 * kMiB);
  heap.policy.note_clean_use(500 * kMiB, 11 * kMiB);
  EXPECT_EQ(heap.policy.limit(), 73 * kMiB) << "no further than by what is of no use";
}

TEST(GiveBackPolicy, HolesThatWentBackWhileTheHeapGrewDoNotRaiseTheLimitByItsGrowth) {
  Heap heap(64 * kMiB);
  for (int round = 0; round < 5; ++round) {
    heap.free(40 * kMiB);
    heap.policy.note_clean_use(60 * kMiB, heap.dirty);
    heap.look();
    EXPECT_GT(heap.look(), 0u) << round;
    EXPECT_LE(heap.policy.limit(), 24 * kMiB) << round;
  }
}

TEST(GiveBackPolicy, WhereNobodyLooksLaterAFallenLimitGivesNothingBackAtOnce) {
  Heap heap(64 * kMiB);
  heap.free(60 * kMiB);
  heap.policy.note_clean_use(60 * kMiB, heap.dirty);
  ASSERT_EQ(heap.policy.limit(), 8 * kMiB);
  EXPECT_EQ(heap.give_back_at_once(), 0u);
  heap.free(20 * kMiB);
  EXPECT_EQ(heap.give_back_at_once(), 16 * kMiB) << "but what exceeds the threshold";
}

TEST(GiveBackPolicy, ALoopThatGrowsBesideUnusableHolesSoonKeepsWhatItNeedsWithoutALook) {
  Heap heap(8 * kMiB);
  constexpr std::size_t kHoles = kMiB;  // too short for what the loop asks for
  std::size_t given_back = 0;
  for (int round = 0; round < 20; ++round) {
    const std::size_t needed = 9 * kMiB, warm = heap.dirty > kHoles ? heap.dirty - kHoles : 0;
    heap.dirty -= warm;
    heap.policy.note_low(heap.dirty);
    heap.policy.note_clean_use(needed - warm, heap.dirty);
    heap.free(needed);
    given_back = heap.give_back_at_once();
  }
  EXPECT_EQ(given_back, 0u);
}

TEST(GiveBackPolicy, AFallenLimitRisesAgainWithTime) {
  Heap heap(64 * kMiB);
  heap.free(60 * kMiB);
  heap.policy.note_clean_use(60 * kMiB, heap.dirty);
  ASSERT_EQ(heap.policy.limit(), 8 * kMiB);
  heap.tick();
  EXPECT_EQ(heap.policy.limit(), 8 * kMiB) << "it has just fallen";
  for (const std::size_t limit : {16, 32, 64, 64}) {
    heap.tick();
    EXPECT_EQ(heap.policy.limit(), limit * kMiB);
  }
}

TEST(GiveBackPolicy, AtAThresholdOfZeroAllIsExcess) {
  Heap heap(0);
  EXPECT_FALSE(heap.policy.exceeds_limit(0));
  heap.free(3 * kMiB);
  EXPECT_EQ(heap.give_back_at_once(), 3 * kMiB);
  heap.take(3 * kMiB);
  EXPECT_EQ(heap.policy.limit(), 3 * kMiB) << "asked for again at once";
  heap.free(3 * kMiB);
  heap.tick();
  EXPECT_EQ(heap.tick(), 3 * kMiB);
  EXPECT_EQ(heap.policy.limit(), 3 * kMiB / 2);
}

TEST(GiveBackPolicy, ANewThresholdIsTheLimitAtOnce) {
  Heap heap(64 * kMiB);
  heap.policy.keep(10 * kMiB);
  heap.policy.set_threshold(kMiB);
  EXPECT_EQ(heap.policy.limit(), 11 * kMiB) << "what is kept is kept beside it";
}

TEST(GiveBackPolicy, WhatIsKeptIsNeitherExcessNorUnused) {
  Heap heap(64 * kMiB);
  heap.policy.keep(100 * kMiB);
  heap.free(164 * kMiB);
  EXPECT_EQ(heap.give_back_at_once(), 0u);
  heap.tick();
  EXPECT_EQ(heap.tick(), 64 * kMiB);
  EXPECT_EQ(heap.tick(), 0u);
  EXPECT_EQ(heap.policy.limit(), 164 * kMiB) << "the least, not half of it";
  heap.policy.keep_nothing();
  EXPECT_EQ(heap.policy.limit(), 64 * kMiB);
  EXPECT_EQ(heap.give_back_at_once(), 36 * kMiB);
  EXPECT_EQ(heap.tick(), 64 * kMiB);
}

TEST(GiveBackPolicy, WithATickPerPeriodUnusedMemoryIsGoneWithinTheDecayTime) {
  constexpr std::uint32_t kDecayMs = 2000;
  Heap heap(64 * kMiB);
  TickClock clock(kDecayMs);
  std::uint64_t now = 5000;
  ASSERT_TRUE(clock.is_due(now));
  heap.tick();
  heap.free(50 * kMiB);
  for (const std::uint64_t end = now + kDecayMs; now < end; now += 10)
    if (clock.is_due(now + 10)) heap.tick();
  EXPECT_EQ(heap.dirty, 0u);
}

TEST(TickClock, IsDueTwicePerDecayTimeForOneOfThoseWhoAsk) {
  TickClock clock(2000);
  EXPECT_TRUE(clock.is_due(10000));
  EXPECT_FALSE(clock.is_due(10000)) << "somebody else has it";
  EXPECT_FALSE(clock.is_due(10999));
  EXPECT_TRUE(clock.is_due(11000));
  EXPECT_FALSE(clock.is_due(11001));
}

TEST(TickClock, WithoutADecayTimeNoTickIsDue) {
  TickClock clock(0);
  EXPECT_FALSE(clock.has_ticks());
  EXPECT_FALSE(clock.is_due(0));
  EXPECT_FALSE(clock.is_due(kHourMs));
}

TEST(TickClock, OnAClockThatStandsStillNoTickIsDue) {
  TickClock clock(2000);
  ASSERT_TRUE(clock.is_due(kHourMs));
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(clock.is_due(kHourMs));
}

TEST(TickClock, AClockThatWentBackIsBelieved) {
  TickClock clock(2000);
  ASSERT_TRUE(clock.is_due(kHourMs));
  EXPECT_TRUE(clock.is_due(kHourMs - 1)) << "better a tick too many than none for an hour";
  EXPECT_FALSE(clock.is_due(kHourMs)) << "the next is a period from there";
  EXPECT_TRUE(clock.is_due(5)) << "also right after it began";
  EXPECT_FALSE(clock.is_due(1004));
  EXPECT_TRUE(clock.is_due(1005));
}

TEST(TickClock, AClockThatJumpsMakesOneTickDue) {
  TickClock clock(2000);
  ASSERT_TRUE(clock.is_due(kHourMs));
  EXPECT_TRUE(clock.is_due(~std::uint64_t{0}));
  EXPECT_FALSE(clock.is_due(~std::uint64_t{0}));
  EXPECT_FALSE(clock.is_due(998)) << "it goes round at the end of its range";
  EXPECT_TRUE(clock.is_due(999));
}

TEST(TickClock, AfterHoursOfSuspensionOneTickIsDueAndMakesUpForNothing) {
  Heap heap(64 * kMiB);
  TickClock clock(2000);
  std::uint64_t now = 5000;
  ASSERT_TRUE(clock.is_due(now));
  heap.free(1000 * kMiB);
  heap.give_back_at_once();
  heap.take(1000 * kMiB);  // the limit has risen
  heap.free(50 * kMiB);
  heap.tick();
  now += 10 * kHourMs;
  int ticks = 0;
  for (; clock.is_due(now); ++ticks) heap.tick();
  EXPECT_EQ(ticks, 1);
  EXPECT_EQ(heap.dirty, 0u) << "nobody needed it before the machine slept";
  EXPECT_EQ(heap.policy.limit(), 500 * kMiB) << "halved once, not once per period slept";
}

}  // namespace
}  // namespace tarn::internal
