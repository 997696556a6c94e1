#include "central/cached/cached_spans.h"

#include "page/give_back/page_cache.h"
#include "page/spans.h"
#include "page/spans/page_map.h"
#include "support/threads.h"
#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class CachedSpansTest : public OwnerFixture {
 protected:
  ~CachedSpansTest() override { end(); }

  static Span* allocate(std::uint32_t pages) {
    return allocate_span({.pages = PageCount{pages}, .kind = SpanKind::kLarge});
  }
  void cache(Span* span) {
    ReturnedPages returned;
    cache_span(owner, span, returned);
    check(owner);
  }
  Span* take_span(std::uint32_t pages) {
    ReturnedPages returned;
    Span* const span = take_cached_span(owner, PageCount{pages}, returned);
    check(owner);
    return span;
  }
  bool end() {
    ReturnedPages returned;
    return end_cached_spans(owner, returned);
  }
  void look() {
    ReturnedPages returned;
    look_at_cached_spans(owner, returned);
    check(owner);
  }
  std::size_t cached_pages() const { return cached_span_bytes(owner) / kPageBytes; }
};

TEST_F(CachedSpansTest, ServeTheNextBlocks) {
  Span* const span = allocate(8);
  cache(span);
  EXPECT_EQ(span->kind, SpanKind::kCached);
  EXPECT_EQ(page_map.find(span->start), span);
  EXPECT_EQ(take_span(8), span);
  EXPECT_EQ(span->kind, SpanKind::kLarge);
  EXPECT_FALSE(span->is_zeroed);
  EXPECT_EQ(take_span(8), nullptr);
  cache(span);
  EXPECT_TRUE(end());
  EXPECT_FALSE(end());
}

TEST_F(CachedSpansTest, MayBeHalfAsLargeAgain) {
  page_cache.prewarm(2 * kChunkBytes);  // else they would go before the heap grows
  cache(allocate(18));
  EXPECT_EQ(take_span(11), nullptr);
  EXPECT_EQ(take_span(19), nullptr);
  Span* const span = take_span(12);
  ASSERT_NE(span, nullptr);
  cache(span);
}

TEST_F(CachedSpansTest, TheSmallestThatIsEnoughIsTaken) {
  for (const std::uint32_t pages : {14u, 9u, 12u, 7u, 11u}) cache(allocate(pages));
  for (const std::uint32_t pages : {9u, 11u, 12u, 14u}) {
    Span* const span = take_span(10 - (pages == 9u));
    ASSERT_NE(span, nullptr);
    EXPECT_EQ(span->pages, PageCount{pages});
    ReturnedPages returned;
    free_span(span, returned);
  }
}

TEST_F(CachedSpansTest, WithoutAnEmptySlotEachEighthTakesTheOldestOnes) {
  std::vector<Span*> spans;
  for (unsigned i = 0; i < CachedSpans::kSlots + 8; ++i) spans.push_back(allocate(5));
  std::vector<const char*> starts;
  for (const Span* const span : spans) starts.push_back(span->start);
  for (Span* const span : spans) cache(span);
  EXPECT_EQ(cached_pages(), 5 * CachedSpans::kSlots);
  unsigned replaced = 0;
  for (unsigned i = 0; i < CachedSpans::kSlots; ++i) replaced += page_map.find(starts[i]) == nullptr;
  EXPECT_EQ(replaced, 1u);
}

TEST_F(CachedSpansTest, AreOfLimitedSizeAndBytes) {
  Span* const huge = allocate(number_of(kLargestCachedSpan) + 1);
  const char* const start = huge->start;
  cache(huge);
  EXPECT_EQ(page_map.find(start), nullptr) << "it has ended";
  std::vector<Span*> spans;
  for (int i = 0; i < 6; ++i) spans.push_back(allocate(number_of(kLargestCachedSpan) / 2));
  for (Span* const span : spans) cache(span);
  EXPECT_LE(cached_pages(), number_of(kMostCachedPages));
  EXPECT_GE(cached_pages(), number_of(kMostCachedPages) / 2);
}

TEST_F(CachedSpansTest, GoWhenTheyWereNotNeededBetweenTwoLooks) {
  page_cache.prewarm(2 * kChunkBytes);
  Span *const first = allocate(8), *const second = allocate(16);
  cache(first);
  cache(second);
  look();
  EXPECT_EQ(cached_pages(), 24u) << "the first look only sees them";
  cache(take_span(8));
  look();
  EXPECT_EQ(cached_pages(), 8u) << "the other was in use";
  look();
  EXPECT_EQ(cached_pages(), 0u);
}

TEST_F(CachedSpansTest, GoBeforeTheHeapGrows) {
  page_cache.purge(SIZE_MAX);
  cache(allocate(8));
  EXPECT_EQ(take_span(100), nullptr);
  EXPECT_EQ(cached_pages(), 0u);
  EXPECT_GE(page_cache.dirty_bytes(), 8 * kPageBytes);
}

TEST_F(CachedSpansTest, AnOwnerWithoutThreadsKeepsNone) {
  owner.threads.store(0);
  cache(allocate(8));
  EXPECT_EQ(cached_pages(), 0u);
  owner.threads.store(1);
}

TEST_F(CachedSpansTest, ManyThreadsLoseNone) {
  constexpr int kThreads = 4, kRounds = 20'000;
  test::in_threads(kThreads, [this](int i) {
    for (int round = 0; round < kRounds; ++round) {
      const auto pages = static_cast<std::uint32_t>(5 + (round + i) % 3);
      ReturnedPages returned;
      Span* span = take_cached_span(owner, PageCount{pages}, returned);
      if (span == nullptr) span = allocate(pages);
      *span->start = static_cast<char>(i);
      if (round % 1000 == 0) look_at_cached_spans(owner, returned);
      if (*span->start != static_cast<char>(i)) ADD_FAILURE() << "another thread has it too";
      cache_span(owner, span, returned);
    }
  });
  end();
  page_map.validate();
  page_cache.validate();
}

}  // namespace
}  // namespace tarn::internal
