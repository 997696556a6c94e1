#include <gtest/gtest.h>

#include <string>

#include "observer/process/source.h"
#include "observer/records/bounds.h"
#include "observer/records/bytes.h"
#include "observer/records/circle_watch.h"

namespace tarn::observer {
namespace {

/// How many records of a list are met that runs into a circle behind so many.
std::uint64_t records_met(std::uint64_t before, std::uint64_t in_circle) {
  CircleWatch circle;
  std::uint64_t met = 0;
  for (std::uint64_t record = 1; !circle.has_closed(record); ++met)
    record = record < before + in_circle ? record + 1 : before + 1;
  return met;
}

TEST(ACircleWatch, EndsListsInCirclesAfterEachRecordWasMet) {
  for (const std::uint64_t before : {0u, 1u, 2u, 5u, 100u})
    for (const std::uint64_t in_circle : {1u, 2u, 3u, 64u, 1'000u}) {
      const std::uint64_t met = records_met(before, in_circle);
      EXPECT_GE(met, before + in_circle);
      EXPECT_LE(met, 4 * (before + in_circle));
    }
}

TEST(ACircleWatch, LetsAListEnd) {
  CircleWatch circle;
  for (std::uint64_t record = 1; record < 100'000; ++record) ASSERT_FALSE(circle.has_closed(record));
}

TEST(Bounds, RefuseWhatExceedsThem) {
  Bounds bounds(100, 10);
  bounds.spend_bytes(60);
  EXPECT_THROW(bounds.spend_bytes(41), ObserveError);
  bounds.spend_bytes(40);
  bounds.spend_steps(10);
  EXPECT_THROW(bounds.spend_steps(1), ObserveError);
  EXPECT_THROW(bounds.spend_bytes(UINT64_MAX), ObserveError);
}

TEST(NumberAt, IsZeroOutsideOfTheRecord) {
  const std::byte record[8] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  EXPECT_EQ(number_at(record, {0, 2}), 0x0201u);
  EXPECT_EQ(number_at(record, {6, 4}), 0u);
  EXPECT_EQ(number_at(record, {UINT32_MAX, 8}), 0u);
  EXPECT_EQ(number_at({}, {0, 0}), 0u);
}

}  // namespace
}  // namespace tarn::observer
