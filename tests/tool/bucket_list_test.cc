#include "commands/bucket_list.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tarn::tool {
namespace {

TEST(BucketList, Has128BucketsOfTheRangesThatTheSourceNames) {
  const std::vector<Bucket> buckets = list_buckets();
  ASSERT_EQ(buckets.size(), 128u);
  const std::pair<unsigned, std::uint32_t> ends[] = {{32, 256},  {48, 512},   {64, 1024},  {80, 2048},
                                                     {96, 4096}, {112, 8192}, {128, 16384}};
  for (const auto& [number, bytes] : ends) {
    EXPECT_EQ(buckets[number - 1].number, number);
    EXPECT_EQ(buckets[number - 1].bytes, bytes);
  }
}

TEST(BucketList, FifteenOddMultiplesOf8AreNoClassesAndTheNextBucketServesThem) {
  unsigned forbidden = 0;
  for (const Bucket& bucket : list_buckets()) {
    const bool may_be_aligned = bucket.bytes % 16 == 0 || bucket.bytes == 8;
    EXPECT_EQ(bucket.is_class(), may_be_aligned) << bucket.bytes;
    EXPECT_EQ(bucket.served_by, may_be_aligned ? bucket.bytes : bucket.bytes + 8) << bucket.bytes;
    forbidden += !may_be_aligned;
  }
  EXPECT_EQ(forbidden, 15u);
}

TEST(BucketList, WasteIsTheShareOfTheBlockThatServes) {
  const std::vector<Bucket> buckets = list_buckets();
  EXPECT_DOUBLE_EQ(buckets[2].waste_percent(), 25);  // 24 bytes in 32
  EXPECT_DOUBLE_EQ(buckets[3].waste_percent(), 0);
}

}  // namespace
}  // namespace tarn::tool
