#include "page/spans/page_map.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kRegionBytes = 16 * kChunkBytes;

std::uint16_t indexed(const void* address) {
  const detail::PageIndex index = page_map.index();
  return number_of(index.record_of(address));
}

TEST(PageMap, KnowsNothingOfForeignAddresses) {
  int local = 0;
  page_map.add_region(kRegionBytes, kRegionBytes);
  EXPECT_EQ(page_map.find(&local), nullptr);
  EXPECT_EQ(page_map.find(nullptr), nullptr);
  EXPECT_EQ(page_map.find(reinterpret_cast<void*>(~std::uintptr_t{0})), nullptr);
}

TEST(PageMap, RegionsAreAlignedToChunksAndHaveATableForEach) {
  const Region* const region = page_map.add_region(kChunkBytes, kRegionBytes);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(address_of(region->start) % kChunkBytes, 0u);
  EXPECT_GE(region->bytes, kChunkBytes);
  EXPECT_EQ(region->chunk_count, region->bytes / kChunkBytes);
  EXPECT_EQ(region->committed_chunks, 0u);
  EXPECT_EQ(page_map.find(region->start), nullptr);
}

TEST(PageMap, EveryAddressOfASpanLeadsToItAndNoneBeside) {
  page_map.reserve_index();
  Span span{};
  const Region* const region = page_map.add_region(kRegionBytes, kRegionBytes);
  ASSERT_TRUE(page_map.commit_tables(*region, region->chunk_count));
  span.start = region->start + 7 * kPageBytes;
  span.pages = PageCount{40};
  span.kind = SpanKind::kSlab;
  page_map.set(&span);
  EXPECT_EQ(indexed(span.start), 0) << "until its record is named";
  page_map.set_record(&span, detail::RecordPlace{160});
  for (std::size_t offset = 0; offset < span.bytes(); offset += 4096) {
    ASSERT_EQ(page_map.find(span.start + offset), &span);
    ASSERT_EQ(indexed(span.start + offset), 160);
  }
  EXPECT_EQ(page_map.find(span.start + span.bytes() - 1), &span);
  for (unsigned bit = 47; bit < 64; ++bit) {
    const std::uintptr_t tag = std::uintptr_t{1} << bit;
    const auto* const tagged = reinterpret_cast<const char*>(address_of(span.start) | tag);
    EXPECT_EQ(page_map.find(tagged), nullptr) << bit;
    EXPECT_EQ(indexed(tagged), 0) << bit;
  }
  for (const char* beside :
       {static_cast<const char*>(span.start) - 1, static_cast<const char*>(span.start) + span.bytes()}) {
    EXPECT_EQ(page_map.find(beside), nullptr);
    EXPECT_EQ(indexed(beside), 0);
  }
  page_map.clear(&span);
  EXPECT_EQ(page_map.find(span.start), nullptr);
  EXPECT_EQ(indexed(span.start), 0);
}

TEST(PageMap, LaterRegionsAreFoundToo) {
  Span spans[5] = {};
  for (Span& span : spans) {
    const Region* const region = page_map.add_region(kRegionBytes, kRegionBytes);
    ASSERT_TRUE(page_map.commit_tables(*region, 1));
    span.start = region->start;
    span.pages = PageCount{1};
    page_map.set(&span);
  }
  for (Span& span : spans) EXPECT_EQ(page_map.find(span.start + 5), &span);
}

TEST(PageMap, TheIndexIsEmptyBeforeItIsReserved) {
  EXPECT_EQ(indexed(nullptr), 0);
  EXPECT_EQ(indexed(reinterpret_cast<void*>(~std::uintptr_t{0})), 0);
}

TEST(PageMap, ARegionTooLargeForTheMachineIsRefused) {
  EXPECT_EQ(page_map.add_region(std::size_t{1} << 47, std::size_t{1} << 47), nullptr);
  EXPECT_EQ(page_map.region_count(), 0u);
  EXPECT_NE(page_map.add_region(kChunkBytes, std::size_t{1} << 47), nullptr)
      << "halves its wish until it is granted";
}

}  // namespace
}  // namespace tarn::internal
