#include "page/spans.h"

#include "page/give_back/page_cache.h"
#include "page/spans/page_map.h"
#include "support/prelude.h"

namespace tarn::internal {
namespace {

Span* allocate(std::uint32_t pages, SpanKind kind = SpanKind::kLarge) {
  return allocate_span({.pages = PageCount{pages}, .kind = kind});
}

void end(Span* span) {
  ReturnedPages returned;
  free_span(span, returned);
}

TEST(Spans, AreFoundByAddressFromTheirAllocationToTheirEnd) {
  Span* const span = allocate(3);
  ASSERT_NE(span, nullptr);
  char* const start = span->start;
  EXPECT_EQ(page_map.find(start), span);
  EXPECT_EQ(page_map.find(start + span->bytes() - 1), span);
  end(span);
  EXPECT_EQ(page_map.find(start), nullptr);
}

TEST(Spans, HaveTheAlignmentAndThePoolTheyWereAskedWith) {
  int pool = 0;
  Span* const span = allocate_span(
      {.pages = PageCount{2}, .kind = SpanKind::kPool, .alignment = kChunkBytes, .pool = &pool});
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(address_of(span->start) % kChunkBytes, 0u);
  EXPECT_EQ(span->marked_pool(), &pool);
  end(span);
}

TEST(Spans, HaveRoomForTheirBits) {
  Span* const span = allocate_span({.pages = PageCount{1}, .kind = SpanKind::kSlab, .bitmap_words = 100});
  ASSERT_NE(span, nullptr);
  EXPECT_GE(1u << span->capacity_log2, 100u);
  end(span);
}

TEST(Spans, GiveTheirRecordToTheIndexAndTakeItBack) {
  page_map.reserve_index();
  Span* const span = allocate(2, SpanKind::kSlab);
  const detail::PageIndex index = page_map.index();
  if (index.page_count == 0) GTEST_SKIP() << "there is no index";
  EXPECT_EQ(number_of(index.record_of(span->start)), 0u);
  set_record(span, detail::RecordPlace{160});
  EXPECT_EQ(number_of(index.record_of(span->start + kPageBytes)), 160u);
  char* const start = span->start;
  end(span);
  EXPECT_EQ(number_of(index.record_of(start)), 0u);
}

TEST(Spans, GrowAndShrinkWhereTheyAre) {
  Span* const span = allocate_span({.pages = PageCount{4}, .kind = SpanKind::kLarge, .room = PageCount{4}});
  ReturnedPages returned;
  ASSERT_TRUE(resize_span(span, PageCount{8}, returned));
  EXPECT_EQ(page_map.find(span->start + 7 * kPageBytes), span);
  ASSERT_TRUE(resize_span(span, PageCount{2}, returned));
  EXPECT_EQ(page_map.find(span->start + 2 * kPageBytes), nullptr);
  EXPECT_EQ(span->pages, PageCount{2});
  free_span(span, returned);
}

TEST(Spans, ThatWereMovedLeaveCleanPages) {
  Span* const span = allocate(kPagesPerChunk + 2);
  const std::size_t dirty = page_cache.dirty_bytes();
  ReturnedPages returned;
  free_moved_span(span, PageCount{kPagesPerChunk}, returned);
  EXPECT_EQ(page_cache.dirty_bytes(), dirty + 2 * kPageBytes);
}

TEST(Spans, OverACallersMemoryAreInNoPageMap) {
  alignas(64) static char memory[4096];
  Span* const span = make_span_over(memory, 1, memory);
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(page_map.find(memory), nullptr);
  end_span_over(span);
}

}  // namespace
}  // namespace tarn::internal
