#include "thread/watch/watch_lease.h"

#include "support/prelude.h"

namespace tarn::internal {
namespace {

constexpr std::uint64_t kPatience = WatchLease::kPatienceMs;

TEST(WatchLease, NobodysWatchNeverLapses) {
  WatchLease lease;
  EXPECT_FALSE(lease.has_lapsed_at(1));
  EXPECT_FALSE(lease.has_lapsed_at(1'000'000));
}

TEST(WatchLease, LapsesOnceWhenNoBeatHasComeForLongerThanThePatience) {
  WatchLease lease;
  lease.beat = 7;
  EXPECT_FALSE(lease.has_lapsed_at(5000)) << "the first look only notes when that was";
  EXPECT_FALSE(lease.has_lapsed_at(5000 + kPatience));
  EXPECT_TRUE(lease.has_lapsed_at(5001 + kPatience));
  EXPECT_FALSE(lease.has_lapsed_at(9000 + kPatience)) << "one thread ends the watch";
  EXPECT_EQ(lease.beat, 0u);
}

TEST(WatchLease, ABeatKeepsItAlsoAfterATimeWithoutLooks) {
  WatchLease lease;
  for (std::uint64_t look = 0, now = 1; look < 10; ++look, now += 100 * kPatience) {
    ++lease.beat;
    EXPECT_FALSE(lease.has_lapsed_at(now));
  }
}

TEST(WatchLease, ATimeBeforeItsBeginCountsForNothingThoughItsBeatsAreAsBefore) {
  WatchLease lease;
  lease.beat = 1;
  EXPECT_FALSE(lease.has_lapsed_at(1));
  lease.end();
  lease.begin();
  lease.beat = 1;
  EXPECT_FALSE(lease.has_lapsed_at(100 * kPatience));
}

}  // namespace
}  // namespace tarn::internal
