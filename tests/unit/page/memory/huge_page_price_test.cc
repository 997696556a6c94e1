#include "page/memory/huge_page_price.h"

#include "support/prelude.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kHeapBytes = std::size_t{40} << 20;
constexpr std::uint64_t kMicrosecond = 1000;

TEST(HugePagePrice, IsFairWhereNothingIsKnown) { EXPECT_TRUE(HugePagePrice{}.is_fair(0)); }

TEST(HugePagePrice, IsDearWhereSmallPagesCostLessUntilTheHeapHasDoubled) {
  HugePagePrice price;
  for (unsigned i = 0; i < 32; ++i) price.note_small(64 * 1024, 20 * kMicrosecond);  // 640 us for 2 MiB
  price.note_huge(600 * kMicrosecond, kHeapBytes);
  EXPECT_TRUE(price.is_fair(kHeapBytes));
  price.note_huge(6000 * kMicrosecond, kHeapBytes);
  EXPECT_TRUE(price.is_fair(kHeapBytes)) << "it may have waited for a processor";
  price.note_huge(1 * kMicrosecond, kHeapBytes);  // was backed already
  price.note_huge(6000 * kMicrosecond, kHeapBytes);
  EXPECT_FALSE(price.is_fair(kHeapBytes));
  EXPECT_FALSE(price.is_fair(2 * kHeapBytes - 1));
  EXPECT_TRUE(price.is_fair(2 * kHeapBytes));
}

TEST(HugePagePrice, FollowsWhatSmallPagesCostNow) {
  HugePagePrice price;
  for (unsigned i = 0; i < 32; ++i) price.note_small(16 * 1024, 100 * kMicrosecond);  // as dear
  for (unsigned i = 0; i < 2; ++i) price.note_huge(6000 * kMicrosecond, kHeapBytes);
  EXPECT_TRUE(price.is_fair(kHeapBytes));
}

}  // namespace
}  // namespace tarn::internal
