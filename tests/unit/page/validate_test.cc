// Each broken invariant stops the process, and what works breaks none.
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

void validate_all() {
  page_cache.validate();
  page_map.validate();
  metadata.validate();
}

Span* make_span(std::uint32_t page_count, Density density = Density::kSparse) {
  const PageCount pages{page_count};
  Span* const span = span_store.take(0);
  span->start = page_cache.allocate_pages(pages, density).start;
  span->pages = pages;
  span->kind = SpanKind::kLarge;
  page_map.set(span);
  return span;
}

void end_span(Span* span) {
  char* const start = span->start;
  const PageCount pages = span->pages;
  page_map.clear(span);
  span_store.give_back(span);
  page_cache.free_pages(start, pages, PageState::kDirty);
}

void expect_stop(const char* invariant, const std::function<void()>& break_it) {
  const test::ChildResult result = test::run_in_child([&] {
    break_it();
    validate_all();
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT) << invariant << ": " << result.describe();
  EXPECT_NE(result.error.find("tarn: internal check failed: "), std::string::npos) << result.error;
  EXPECT_NE(result.error.find(invariant), std::string::npos) << result.error;
}

TEST(Validate, SpansOfAllSizesThatComeAndGoBreakNothing) {
  page_map.reserve_index();
  page_cache.configure({0, kChunkBytes, std::size_t{1} << 30});
  test::Random random(1);
  std::vector<Span*> spans;
  for (int i = 0; i < 2000; ++i) {
    if (spans.size() < 30 || random.below(2) == 0) {
      const auto pages = static_cast<std::uint32_t>(1 + random.below(random.below(10) == 0 ? 100 : 8));
      spans.push_back(make_span(pages, random.below(2) == 0 ? Density::kDense : Density::kSparse));
    } else {
      std::swap(spans[random.below(spans.size())], spans.back());
      end_span(spans.back());
      spans.pop_back();
    }
    if (i % 100 == 50) page_cache.purge(kChunkBytes);
    if (i % 100 == 60) page_cache.purge(page_cache.unused_since_tick());
    if (i % 100 == 70) page_cache.keep(kChunkBytes);
    if (i % 200 == 190) page_cache.keep_nothing();
    validate_all();
  }
}

class BrokenInvariant : public ::testing::Test {
 protected:
  void SetUp() override {
    page_map.reserve_index();
    end_span(make_span(10));
    span = make_span(3);
    validate_all();
    chunk = &page_map.region(0).chunks[0];
  }

  Span* span = nullptr;
  Chunk* chunk = nullptr;
};

TEST_F(BrokenInvariant, ADirtyPageIsFree) {
  expect_stop("(dirty_mask & ~free_mask) == 0", [&] { chunk->dirty_mask |= 1; });
}

TEST_F(BrokenInvariant, AChunkIsListedUnderItsLongestRuns) {
  expect_stop("free_run == longest_run(free_mask)", [&] { chunk->free_mask &= ~(1u << 20); });
  expect_stop("dirty_run == longest_run(dirty_mask)", [&] { chunk->dirty_mask = 0; });
  expect_stop("at->previous == last", [&] { chunk->by_free.previous = &chunk->by_dirty; });
  expect_stop("density == density", [&] { chunk->density = Density::kDense; });
}

TEST_F(BrokenInvariant, DirtyBytesAreThoseOfAllDirtyPages) {
  Span* const hole = make_span(2);
  make_span(2);
  end_span(hole);  // a run that is not the longest: nothing is listed under it
  expect_stop("dirty_bytes_ == ", [&] {
    unsigned page = 0;
    while (chunk->start + page * kPageBytes != hole->start) ++page;
    chunk->free_mask &= ~(1u << page);
    chunk->dirty_mask &= ~(1u << page);
  });
}

TEST_F(BrokenInvariant, UsedAndFreePagesMakeUpWhatIsCommitted) {
  const auto free_twice = [&] {
    page_map.clear(span);
    for (int i = 0; i < 2; ++i) page_cache.free_pages(span->start, PageCount{3}, PageState::kClean);
  };
  expect_stop("", free_twice);  // an assertion in debug builds
}

TEST_F(BrokenInvariant, AllPagesOfASpanLeadToIt) {
  expect_stop("found == span", [&] { page_map.clear_pages(span, 1, PageCount{1}); });
  expect_stop("first_page()", [&] { page_map.clear_pages(span, 0, PageCount{1}); });
  expect_stop("found == span", [&] { span->pages += PageCount{1}; });
}

TEST_F(BrokenInvariant, ASpanThatHasEndedIsInNoPageMap) {
  expect_stop("SpanKind::kFree", [&] { span_store.give_back(span); });
}

TEST_F(BrokenInvariant, NoPageOfASpanIsFree) {
  expect_stop("free_mask", [&] { page_cache.free_pages(span->start, PageCount{3}, PageState::kDirty); });
}

TEST_F(BrokenInvariant, APageWithoutASpanHasNoRecordInTheIndex) {
  expect_stop("records[page] == 0", [&] {
    page_map.set_record(span, detail::RecordPlace{16});
    page_map.region(0).spans[static_cast<std::size_t>(span->start - page_map.region(0).start) >> kPageShift] =
        nullptr;
    span->start += kPageBytes;
    span->pages -= PageCount{1};
  });
}

TEST_F(BrokenInvariant, MetadataIsUsedOrFree) {
  void *const first = metadata.allocate(640), *const second = metadata.allocate(640);
  expect_stop("used_bytes_ + free_bytes == cut_bytes_", [&] {
    metadata.free(first, 640);
    metadata.free(second, 640);
    std::memset(second, 0, 640);
  });
  expect_stop("free_bytes <= cut_bytes_", [&] {
    metadata.free(first, 640);
    metadata.free(first, 640);
  });
}

}  // namespace
}  // namespace tarn::internal
