#include "pool/heap_slabs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "general/setup.h"
#include "page/page_map.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

constexpr PoolOperations kOperations{.kind = "test", .record = PoolRecord::kNone};

/// The slabs of a heap, in pages of the library or in a buffer of so many bytes.
class Slabs {
 public:
  explicit Slabs(std::size_t buffer_bytes = 0)
      : buffer_(buffer_bytes != 0 ? std::aligned_alloc(4096, buffer_bytes) : nullptr) {
    set_up_once();
    EXPECT_TRUE(slabs.begin(pool_, buffer_, buffer_bytes, false));
  }
  ~Slabs() {
    {
      ReturnedPages returned;
      slabs.end(returned);
    }
    std::free(buffer_);
  }
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  void* allocate(std::size_t size, std::size_t alignment = 16) {
    const BlockRequest request = slabs.request_of(size, alignment);
    ReturnedPages returned;
    void* const block = slabs.take_block(request, returned);
    if (block != nullptr) live_bytes += request.block_bytes, ++live_count;
    return block;
  }
  /// \returns whether pages went back to the page cache.
  bool deallocate(void* block) {
    ReturnedPages returned;
    live_bytes -= slabs.take_back(block, returned), --live_count;
    return returned.bytes() != 0;
  }
  std::size_t release_unused() {
    ReturnedPages returned;
    return slabs.release_unused(returned);
  }
  void end_live() {
    ReturnedPages returned;
    slabs.retire_all(returned);
  }
  void validate() const { slabs.validate(live_bytes, live_count); }

  HeapSlabs slabs;
  std::size_t live_bytes = 0, live_count = 0;

 private:
  void* buffer_;
  PoolHeader pool_{.operations = &kOperations};
};

TEST(HeapSlabs, ALargeRequestOrAnAlignedOneIsASlabOfOneBlock) {
  Slabs heap;
  EXPECT_NE(heap.slabs.request_of(100, 16).size_class, SizeClass::kNone);
  EXPECT_EQ(heap.slabs.request_of(100, 16).block_bytes, 112u);
  EXPECT_EQ(heap.slabs.request_of(300'000, 16).size_class, SizeClass::kNone);
  EXPECT_EQ(heap.slabs.request_of(300'000, 16).block_bytes, 5 * kPageBytes);
  void* const block = heap.allocate(100, 4 * kPageBytes);
  EXPECT_EQ(address_of(block) % (4 * kPageBytes), 0u);
  EXPECT_EQ(heap.slabs.mapped().charged(), kPageBytes);
  heap.validate();
  EXPECT_TRUE(heap.deallocate(block));
  EXPECT_EQ(heap.slabs.mapped().charged(), 0u);
}

TEST(HeapSlabs, KeepsTheLastEmptySlabOfAClassAndEndsTheOthers) {
  Slabs heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 300; ++i) blocks.push_back(heap.allocate(1000));
  EXPECT_GE(heap.slabs.mapped().charged(), 5 * kPageBytes);
  bool has_returned_pages = false;
  for (void* block : blocks) {
    has_returned_pages |= heap.deallocate(block);
    heap.validate();
  }
  EXPECT_TRUE(has_returned_pages);
  const std::size_t kept = heap.slabs.mapped().charged();
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(heap.release_unused(), kept);
  EXPECT_EQ(heap.slabs.mapped().charged(), 0u);
}

TEST(HeapSlabs, ASparePageIsTheNextSlab) {
  Slabs heap;
  Span* const page = heap.slabs.make_spare();
  char* const start = page->start;
  EXPECT_TRUE(heap.slabs.add_spare(page));
  EXPECT_EQ(heap.slabs.mapped().charged(), kPageBytes);
  heap.validate();
  EXPECT_EQ(heap.allocate(1000), start);
  EXPECT_EQ(heap.slabs.mapped().charged(), kPageBytes);
  heap.validate();
}

TEST(HeapSlabs, OfABufferAreInNoPageMapAndTakeItsLastPage) {
  Slabs heap(64 * 1024);
  std::size_t count = 0;
  while (void* const block = heap.allocate(3000)) {
    ++count;
    EXPECT_EQ(page_map.find(block), nullptr);
    EXPECT_EQ(heap.slabs.find_in_buffer(block), heap.slabs.find(block));
    heap.validate();
  }
  EXPECT_GE(count, 18u) << "a block also where a slab of several has no room";
  heap.end_live();
  heap.live_bytes = heap.live_count = 0;
  heap.validate();
  EXPECT_NE(heap.allocate(60'000), nullptr);
}

TEST(HeapSlabs, CountEveryBlockOfRandomPrograms) {
  for (const std::size_t buffer_bytes : {std::size_t{0}, std::size_t{1} << 22}) {
    Slabs heap(buffer_bytes);
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

TEST(HeapSlabsDeathTest, AFreeCountThatIsNotThatOfTheBitsBreaksTheInvariant) {
  Slabs heap;
  void* const block = heap.allocate(100);
  Span* const slab = heap.slabs.find(block);
  --slab->free_count;
  EXPECT_DEATH(heap.validate(), "free_count");
  ++slab->free_count;
  EXPECT_DEATH(heap.slabs.validate(0, 0), "live_bytes");
}

}  // namespace
}  // namespace tarn::internal
