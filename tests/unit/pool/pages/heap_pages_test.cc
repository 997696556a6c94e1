#include "pool/pages/heap_pages.h"

#include "general/options/setup.h"
#include "page/spans/page_map.h"
#include "support/prelude.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

constexpr PoolOperations kOperations{.kind = "test", .record = PoolRecord::kNone};

/// What a heap has, in pages of the library or in a buffer of so many bytes.
class Pages {
 public:
  explicit Pages(std::size_t buffer_bytes = 0)
      : buffer_(buffer_bytes != 0 ? std::aligned_alloc(4096, buffer_bytes) : nullptr) {
    set_up_once();
    EXPECT_TRUE(pages.begin(pool_, buffer_, buffer_bytes, false));
  }
  ~Pages() {
    {
      ReturnedPages returned;
      pages.end(returned);
    }
    std::free(buffer_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  void* allocate(std::size_t size, std::size_t alignment = 16) {
    const BlockRequest request = pages.request_of(size, alignment);
    ReturnedPages returned;
    void* const block = pages.take_block(request, returned);
    if (block != nullptr) live_bytes += request.block_bytes, ++live_count;
    return block;
  }
  /// \returns whether pages went back to the page cache.
  bool deallocate(void* block) {
    ReturnedPages returned;
    live_bytes -= pages.take_back(block, returned), --live_count;
    return returned.bytes() != 0;
  }
  std::size_t release_unused() {
    ReturnedPages returned;
    return pages.release_unused(returned);
  }
  void end_live() {
    ReturnedPages returned;
    pages.retire_all(returned);
  }
  void validate() const { pages.validate(live_bytes, live_count); }

  HeapPages pages;
  std::size_t live_bytes = 0, live_count = 0;

 private:
  void* buffer_;
  PoolHeader pool_{.operations = &kOperations};
};

TEST(HeapPages, ALargeBlockOrAnAlignedOneHasASpanOfItsOwn) {
  Pages heap;
  EXPECT_TRUE(heap.pages.request_of(100, 16).is_mixed);
  EXPECT_EQ(heap.pages.request_of(100, 16).block_bytes, 112u);
  EXPECT_FALSE(heap.pages.request_of(40'000, 16).is_mixed);
  EXPECT_EQ(heap.pages.request_of(40'000, 16).block_bytes,
            class_geometry[finest_class(detail::bin_of(40'000))].stride);
  EXPECT_EQ(heap.pages.request_of(300'000, 16).block_bytes, 5 * kPageBytes);
  void* const block = heap.allocate(100, 4 * kPageBytes);
  EXPECT_EQ(address_of(block) % (4 * kPageBytes), 0u);
  EXPECT_EQ(heap.pages.mapped().charged(), kPageBytes);
  heap.validate();
  EXPECT_TRUE(heap.deallocate(block));
  EXPECT_EQ(heap.pages.mapped().charged(), 0u);
}

TEST(HeapPages, KeepOneWithoutBlocksAndEndTheOthers) {
  Pages heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 300; ++i) blocks.push_back(heap.allocate(1000));
  EXPECT_GE(heap.pages.mapped().charged(), 5 * kPageBytes);
  bool has_returned_pages = false;
  for (void* block : blocks) {
    has_returned_pages |= heap.deallocate(block);
    heap.validate();
  }
  EXPECT_TRUE(has_returned_pages);
  const std::size_t kept = heap.pages.mapped().charged();
  EXPECT_EQ(kept, kPageBytes);
  EXPECT_EQ(heap.release_unused(), kept);
  EXPECT_EQ(heap.pages.mapped().charged(), 0u);
}

TEST(HeapPages, BlocksOfManySizesShareAPage) {
  Pages heap;
  std::vector<void*> blocks;
  for (std::size_t size = 1; size <= 1024; size = size * 5 / 4 + 1) blocks.push_back(heap.allocate(size));
  EXPECT_EQ(heap.pages.mapped().charged(), kPageBytes);
  for (std::size_t size = 1025; size <= 12'000; size *= 2) blocks.push_back(heap.allocate(size));
  blocks.push_back(heap.allocate(2000, 4096));
  EXPECT_EQ(address_of(blocks.back()) % 4096, 0u);
  EXPECT_EQ(heap.pages.mapped().charged(), 2 * kPageBytes) << "one of fine granules, one of coarse ones";
  for (void* block : blocks) EXPECT_FALSE(heap.deallocate(block)) << "one of each stays";
  heap.validate();
}

TEST(HeapPages, FindTheOnlyRunThatIsLongEnoughBeforeTheyRefuse) {
  Pages heap(1 << 20);
  std::vector<void*> small, large;
  while (void* const block = heap.allocate(608)) small.push_back(block);
  for (std::size_t i = 0; i < small.size(); i += 7) heap.deallocate(small[i]);
  while (void* const block = heap.allocate(608)) large.push_back(block);
  void* const freed = large[large.size() / 2];
  heap.deallocate(freed);
  EXPECT_EQ(heap.allocate(600), freed);
  heap.validate();
}

TEST(HeapPages, TakeABlockWhereTheFreeRunIsShortest) {
  Pages heap;
  std::vector<void*> large;
  for (int i = 0; i < 6; ++i) large.push_back(heap.allocate(30'000));  // two in a page
  ASSERT_EQ(heap.pages.mapped().charged(), 3 * kPageBytes);
  heap.deallocate(large[2]);
  EXPECT_LT(address_of(heap.allocate(4000)) - address_of(heap.pages.find(large[0])->start), kPageBytes)
      << "at the end of a full page, not in the run that a large block needs";
  EXPECT_EQ(heap.allocate(30'000), large[2]);
  heap.validate();
}

TEST(HeapPages, AHoleIsFoundBehindPagesThatCannotServe) {
  Pages heap;
  // A list's pages may all have runs that are too short for the longest requests that look there.
  for (int i = 0; i < 100; ++i) ASSERT_NE(heap.allocate(30'000), nullptr);
  std::vector<void*> small;
  for (int i = 0; i < 1000; ++i) small.push_back(heap.allocate(6'000));
  const std::size_t before = heap.pages.mapped().charged();
  test::Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    void*& block = small[random.below(small.size())];
    heap.deallocate(block);
    block = heap.allocate(6'000);
  }
  EXPECT_LT(heap.pages.mapped().charged(), before + before / 20);
  heap.validate();
}

TEST(HeapPages, ASparePageIsTheNext) {
  Pages heap;
  Span* const page = heap.pages.make_spare();
  char* const start = page->start;
  EXPECT_TRUE(heap.pages.add_spare(page));
  EXPECT_EQ(heap.pages.mapped().charged(), kPageBytes);
  heap.validate();
  EXPECT_EQ(heap.allocate(1000), start);
  EXPECT_EQ(heap.pages.mapped().charged(), kPageBytes);
  heap.validate();
}

TEST(HeapPages, OfABufferAreInNoPageMapAndTakeItsLastPage) {
  Pages heap(64 * 1024);
  std::size_t count = 0;
  while (void* const block = heap.allocate(3000)) {
    ++count;
    EXPECT_EQ(page_map.find(block), nullptr);
    EXPECT_EQ(heap.pages.find_in_buffer(block), heap.pages.find(block));
    heap.validate();
  }
  EXPECT_GE(count, 18u) << "a block also where a page for several has no room";
  heap.end_live();
  heap.live_bytes = heap.live_count = 0;
  heap.validate();
  EXPECT_NE(heap.allocate(60'000), nullptr);
}

TEST(HeapPages, CountEveryBlockOfRandomPrograms) {
  for (const std::size_t buffer_bytes : {std::size_t{0}, std::size_t{1} << 22}) {
    Pages heap(buffer_bytes);
    test::Random random(1);
    std::vector<void*> live;
    for (int i = 0; i < 5000; ++i) {
      if (random.below(100) < 55) {
        const std::size_t size = random.below(std::size_t{1} << random.between(1, 19));
        const std::size_t alignment = std::size_t{1} << (random.below(10) == 0 ? random.below(17) : 4);
        void* const block = heap.allocate(size, alignment);
        if (block != nullptr) live.push_back(block);
      } else if (!live.empty()) {
        std::swap(live[random.below(live.size())], live.back());
        heap.deallocate(live.back());
        live.pop_back();
      }
      if (random.below(500) == 0) heap.release_unused();
      heap.validate();
    }
  }
}

TEST(HeapPagesDeathTest, AFreeCountThatIsNotThatOfTheBitsBreaksTheInvariant) {
  Pages heap;
  void* const block = heap.allocate(100);
  Span* const page = heap.pages.find(block);
  --page->free_count;
  EXPECT_DEATH(heap.validate(), "free_count");
  ++page->free_count;
  EXPECT_DEATH(heap.pages.validate(0, 0), "live_bytes");
}

}  // namespace
}  // namespace tarn::internal
