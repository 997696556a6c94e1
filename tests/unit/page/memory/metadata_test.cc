#include "page/memory/metadata.h"

#include "fault/fault_injection.h"
#include "support/content.h"
#include "support/prelude.h"

namespace tarn::internal {
namespace {

TEST(Metadata, RecordsAreAlignedToCacheLinesAndApart) {
  std::vector<void*> records;
  for (std::size_t bytes = 1; bytes < 40000; bytes = bytes * 5 / 4 + 1) {
    void* const record = metadata.allocate(bytes);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(address_of(record) % kCacheLineBytes, 0u);
    test::fill(record, bytes, bytes);
    records.push_back(record);
  }
  std::size_t i = 0;
  for (std::size_t bytes = 1; bytes < 40000; bytes = bytes * 5 / 4 + 1)
    EXPECT_TRUE(test::holds(records[i++], bytes, bytes)) << bytes;
}

TEST(Metadata, AFreedRecordServesTheNextOfItsSize) {
  void* const record = metadata.allocate(500);
  metadata.allocate(500);
  metadata.free(record, 500);
  EXPECT_NE(metadata.allocate(300), record);
  EXPECT_EQ(metadata.allocate(480), record) << "sizes are counted in cache lines";
}

TEST(Metadata, AZeroedRecordIsZeroWhetherItIsNewOrWasUsed) {
  const std::vector<char> zeros(500);
  for (int i = 0; i < 2; ++i) {
    void* const record = metadata.allocate_zeroed(500);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(std::memcmp(record, zeros.data(), 500), 0);
    test::fill(record, 500, 1);
    metadata.free(record, 500);
  }
}

TEST(Metadata, CountsWhatIsInUse) {
  const std::size_t before = metadata.used_bytes();
  void* const record = metadata.allocate(kCacheLineBytes * 3);
  EXPECT_EQ(metadata.used_bytes(), before + kCacheLineBytes * 3);
  metadata.free(record, kCacheLineBytes * 3);
  EXPECT_EQ(metadata.used_bytes(), before);
}

TEST(Metadata, GivesRecordsOfManyMegabytesInAll) {
  for (int i = 0; i < 4000; ++i) {
    void* const record = metadata.allocate(4000);
    ASSERT_NE(record, nullptr);
    test::fill(record, 4000, 1);
  }
}

bool has_range_of(const Metadata& records, const void* record, std::size_t bytes) {
  for (std::uint32_t i = 0; i < records.range_count(); ++i)
    if (records.range(i).start <= record && static_cast<const char*>(record) + bytes <= records.range(i).end)
      return true;
  return false;
}

TEST(Metadata, EachRecordLiesInARangeAndPiecesThatTouchAreOneRange) {
  for (int i = 0; i < 4000; ++i) EXPECT_TRUE(has_range_of(metadata, metadata.allocate(4000), 4000));
  EXPECT_LE(metadata.range_count(), 2u) << "the first piece, and one reserve";
  EXPECT_EQ(metadata.lost_ranges(), 0u);
  metadata.validate();
}

TEST(Metadata, ARangeBeginsWithEachReserveAndThoseBeyondTheTableAreCounted) {
  static constinit Metadata records;
  const auto take_new_reserve = [] {
    ASSERT_NE(records.allocate(256 * 1024), nullptr);
    os::LockGuard guard(os::global_mutex<os::LockRank::kMetadata>());
    records.release_tail_locked();
  };
  for (std::uint32_t i = 1; i <= Metadata::kMostRanges; ++i) {
    take_new_reserve();
    EXPECT_EQ(records.range_count(), i);
  }
  EXPECT_EQ(records.lost_ranges(), 0u);
  take_new_reserve();
  take_new_reserve();
  EXPECT_EQ(records.range_count(), Metadata::kMostRanges);
  EXPECT_EQ(records.lost_ranges(), 2u);
  records.validate();
}

TEST(Metadata, IsNullWhenMemoryIsRefusedAndThereAgainLater) {
  {
    const test::FaultInjection faults(test::FaultInjection::kAllKinds, 0,
                                      test::FaultInjection::Extent::kAllFromThere);
    int count = 0;
    while (metadata.allocate(8000) != nullptr && ++count < 1000) continue;
    EXPECT_LT(count, 1000);
  }
  EXPECT_NE(metadata.allocate(8000), nullptr);
}

}  // namespace
}  // namespace tarn::internal
