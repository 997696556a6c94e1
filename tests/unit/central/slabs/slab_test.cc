#include "central/slabs/slab.h"

#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "central/slabs/return_blocks.h"
#include "page/give_back/page_cache.h"
#include "page/spans.h"
#include "page/spans/page_map.h"
#include "support/child.h"
#include "support/prelude.h"
#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class Slabs : public ::testing::Test {
 protected:
  Span* make(std::size_t size) {
    const auto size_class = detail::class_of_bin[detail::bin_of(size)];
    const ClassGeometry& geometry = class_geometry[size_class];
    Span* const slab = allocate_span(
        {.pages = geometry.slab_pages, .kind = SpanKind::kSlab, .bitmap_words = geometry.word_count});
    if (slab != nullptr)
      begin_slab(*slab, {size_class, geometry, blocks_in(geometry, geometry.slab_pages), 0});
    return slab;
  }
  static BlockIndex index(const Span& slab, const void* block) {
    return BlockIndex{static_cast<std::uint32_t>(static_cast<const char*>(block) - slab.start) / slab.stride};
  }
  static void give_back(Span& slab, const void* block) {
    mark_free(slab, bitmap::word_of(index(slab, block)), bitmap::bit(index(slab, block)));
  }
};

TEST_F(Slabs, GiveEveryBlockOnceLowestAddressLast) {
  for (const std::size_t size : {8u, 16u, 100u, 512u, 1024u, 5000u, 30000u, 200000u}) {
    Span* const slab = make(size);
    ASSERT_NE(slab, nullptr);
    std::vector<void*> blocks(slab->block_count + 5u);
    const unsigned first = take_from_slab(*slab, blocks.data(), 3);
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.begin() + first, std::greater<>()));
    EXPECT_EQ(blocks[first - 1], slab->start);
    const unsigned rest = take_from_slab(*slab, blocks.data() + first, slab->block_count);
    EXPECT_EQ(first + rest, slab->block_count);
    EXPECT_EQ(slab->free_count, 0u);
    EXPECT_EQ(take_from_slab(*slab, blocks.data() + first + rest, 1), 0u);
    blocks.resize(slab->block_count);
    std::sort(blocks.begin(), blocks.end());
    for (std::uint32_t i = 0; i < slab->block_count; ++i)
      ASSERT_EQ(blocks[i], slab->start + i * slab->stride);
  }
}

TEST_F(Slabs, BlocksGivenBackComeAgainInOrder) {
  Span* const slab = make(48);
  std::vector<void*> blocks(slab->block_count);
  take_from_slab(*slab, blocks.data(), slab->block_count);
  std::sort(blocks.begin(), blocks.end());
  for (const std::size_t i : {700u, 5u, 64u, 63u, 128u}) give_back(*slab, blocks[i]);
  EXPECT_EQ(slab->free_count, 5u);
  void* taken[5];
  ASSERT_EQ(take_from_slab(*slab, taken, 5), 5u);
  void* const expected[] = {blocks[700], blocks[128], blocks[64], blocks[63], blocks[5]};
  EXPECT_TRUE(std::equal(taken, taken + 5, expected));
}

TEST_F(Slabs, RemoteBitsAreMergedOnce) {
  Span* const slab = make(100);
  std::vector<void*> blocks(slab->block_count);
  take_from_slab(*slab, blocks.data(), slab->block_count);
  slab->remote_bits[0].store(0b1011);
  slab->remote_bits[slab->word_count - 1].store(1);
  EXPECT_EQ(merge_remote_bits(*slab), 4u);
  EXPECT_EQ(slab->free_count, 4u);
  EXPECT_EQ(merge_remote_bits(*slab), 0u);
  validate_locked(*slab);
}

TEST_F(Slabs, AFreeCountThatItsBitsDoNotBearOutStopsTheProcess) {
  Span* const slab = make(100);
  const test::ChildResult result = test::run_in_child([&] {
    validate_locked(*slab);
    --slab->free_count;
    validate_locked(*slab);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
}

TEST_F(Slabs, AColourMovesTheFirstBlock) {
  Span* const slab = make(1024);
  const SizeClass size_class = slab->size_class.load();
  begin_slab(*slab, {size_class, bin_geometry[size_class], slab->block_count - 1u, 128});
  EXPECT_EQ(slab->start, slab->first_page() + 128);
  void* block = nullptr;
  take_from_slab(*slab, &block, 1);
  EXPECT_EQ(block, slab->start);
}

TEST_F(Slabs, ABlockGivenBackTwiceStopsTheProcess) {
  Span* const slab = make(100);
  void* blocks[4];
  take_from_slab(*slab, blocks, 4);
  const test::ChildResult result = test::run_in_child([&] {
    give_back(*slab, blocks[1]);
    give_back(*slab, blocks[1]);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.error.rfind("tarn: double free: 0x", 0), 0u) << result.error;
}

TEST_F(Slabs, AreInThePageMapFromTheirMakingToTheirEnd) {
  Span* const slab = make(3000);
  char* const start = slab->start;
  EXPECT_EQ(page_map.find(start), slab);
  EXPECT_EQ(page_map.find(start + slab->bytes() - 1), slab);
  const std::size_t used = page_cache.stats().used_bytes, bytes = slab->bytes();
  {
    ReturnedPages returned;
    free_span(slab, returned);
  }
  EXPECT_EQ(page_map.find(start), nullptr);
  EXPECT_EQ(page_cache.stats().used_bytes, used - bytes);
}

class ClassSlabs : public OwnerFixture {
 protected:
  Span* make(SizeClass size_class = kTestClass, bool is_used_now = true) {
    os::LockGuard guard(owner.mutex);
    return make_slab_locked(owner, size_class, is_used_now);
  }
  static std::ptrdiff_t backed_bytes(const Span& slab) {
    unsigned char backed[kPageBytes / 4096] = {};
    EXPECT_EQ(mincore(slab.first_page(), kPageBytes, backed), 0);
    return std::count_if(backed, std::end(backed), [](unsigned char b) { return (b & 1) != 0; }) * 4096;
  }
};

TEST_F(ClassSlabs, AFreshOneIsCountedAndListed) {
  Span* const slab = make();
  ASSERT_NE(slab, nullptr);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
  EXPECT_EQ(owner.of(kTestClass).totals.blocks, slab->block_count);
  EXPECT_EQ(owner.of(kTestClass).available.first(), slab);
}

TEST_F(ClassSlabs, TheFirstPagesOfANewOneAreBackedAsItsClassGrows) {
  std::vector<std::ptrdiff_t> bytes;
  while (owner.slab_bytes < 16 * kPageBytes) bytes.push_back(backed_bytes(*make()));
  EXPECT_EQ(bytes[3], 0);
  EXPECT_EQ(bytes[4], 16 * 1024);
  EXPECT_EQ(bytes[12], 48 * 1024);
}

TEST_F(ClassSlabs, AReserveIsNotBackedNorASlabOfOneBlock) {
  while (owner.slab_bytes < 16 * kPageBytes) make();
  EXPECT_EQ(backed_bytes(*make(kTestClass, /*is_used_now=*/false)), 0);
  const SizeClass large = detail::class_of_bin[detail::bin_of(40'000)];
  for (int i = 0; i < 32; ++i) EXPECT_EQ(backed_bytes(*make(large)), 0) << i;
}

TEST_F(ClassSlabs, TheLastOfAClassStaysWhenItIsEmpty) {
  Span* const slab = slab_of(take(owner, 1)[0]);
  give_back(owner, {slab->start});
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
  EXPECT_EQ(slab->free_count, slab->block_count);
}

TEST_F(ClassSlabs, AnEmptyOneBesideOthersBecomesASpareOfAnyClass) {
  const std::vector<void*> blocks = take(owner, 2000);
  give_back(owner, blocks);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
  const std::size_t spare = owner.spare_bytes;
  EXPECT_GT(spare, 0u);
  take(owner, 1, class_of_index(20));
  EXPECT_EQ(owner.spare_bytes, spare - kPageBytes);
}

TEST_F(ClassSlabs, AnOrphanKeepsNoSpares) {
  const std::vector<void*> blocks = take(owner, 2000);
  end(owner);
  give_back(owner, blocks);
  EXPECT_EQ(owner.spare_bytes, 0u);
}

TEST_F(ClassSlabs, SparesAreEndedDownToALimit) {
  give_back(owner, take(owner, 4000));
  ASSERT_GT(owner.spare_bytes, 2 * kPageBytes);
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  end_spare_slabs(owner, 2 * kPageBytes, returned);
  EXPECT_EQ(owner.spare_bytes, 2 * kPageBytes);
}

/// Two slabs of a class with all their blocks in use.
class TwoFullSlabs : public ClassSlabs {
 protected:
  TwoFullSlabs() {
    const unsigned count = blocks_in(class_geometry[kTestClass], PageCount{1});
    for (std::vector<void*>& slab : blocks) slab = take(owner, count);
  }
  void free_of(unsigned slab, std::size_t count) {
    give_back(owner, {blocks[slab].end() - static_cast<std::ptrdiff_t>(count), blocks[slab].end()});
    blocks[slab].resize(blocks[slab].size() - count);
  }
  bool next_is_of(unsigned slab) { return slab_of(take(owner, 1)[0]) == slab_of(blocks[slab][0]); }

  std::vector<void*> blocks[2];
};

TEST_F(TwoFullSlabs, TheOneUsedByHalfIsTakenFromFirst) {
  const std::size_t quarter = blocks[0].size() / 4;
  free_of(0, 3 * quarter);
  free_of(1, quarter);
  EXPECT_TRUE(next_is_of(1));
}

TEST_F(TwoFullSlabs, OneThatBecomesEmptierGoesBehind) {
  const std::size_t quarter = blocks[0].size() / 4;
  free_of(1, quarter);
  free_of(0, quarter);
  EXPECT_TRUE(next_is_of(0));
  for (std::size_t i = 0; i < quarter; ++i) free_of(0, 2);
  EXPECT_TRUE(next_is_of(1));
}

TEST_F(TwoFullSlabs, OneThatFillsAgainStaysInFront) {
  const std::size_t quarter = blocks[0].size() / 4;
  free_of(0, 3 * quarter);
  take(owner, static_cast<unsigned>(2 * quarter));
  free_of(1, 3 * quarter);
  EXPECT_TRUE(next_is_of(0));
}

TEST_F(ClassSlabs, OneThatMovesTakesItsBlocksAlong) {
  const std::vector<void*> blocks = take(owner, 10);
  Span* const slab = slab_of(blocks[0]);
  {
    os::LockGuard guard(owner.mutex);
    ASSERT_TRUE(other.mutex.try_lock());  // a second owner's is only ever tried
    move_slab(owner, other, slab);
    other.mutex.unlock();
  }
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 0u);
  EXPECT_EQ(other.of(kTestClass).totals.slabs, 1u);
  EXPECT_EQ(other.taken_bytes, 10 * slab->stride);
}

TEST_F(ClassSlabs, OneMadeAheadOfNeedIsNotRetired) {
  Span* const slab = make();
  keep_slab(owner, slab);
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  retire_empty_slab(owner, kTestClass, returned);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 1u);
  keep_no_longer(owner, slab);
  retire_empty_slab(owner, kTestClass, returned);
  EXPECT_EQ(owner.of(kTestClass).totals.slabs, 0u);
}

class ReturnBlocks : public OwnerFixture {
 protected:
  using Order = void (*)(std::vector<void*>&);

  /// Takes blocks of several slabs and returns them in an order; all of them are free then.
  void return_in_order(Order order) {
    for (const unsigned index : {1u, 3u, 10u, 64u, 100u}) {
      const SizeClass size_class = class_of_index(index);
      std::vector<void*> blocks = take(owner, 3000, size_class);
      order(blocks);
      give_back(owner, blocks);
      EXPECT_EQ(owner.taken_bytes, 0u) << index;
      check(owner);
    }
  }
};

TEST_F(ReturnBlocks, InTheOrderTheyWereTaken) {
  return_in_order([](std::vector<void*>&) {});
}
TEST_F(ReturnBlocks, InTheOppositeOrder) {
  return_in_order([](std::vector<void*>& blocks) { std::reverse(blocks.begin(), blocks.end()); });
}
TEST_F(ReturnBlocks, InAnyOrder) {
  return_in_order([](std::vector<void*>& blocks) {
    std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));  // NOLINT: the same each time
  });
}
TEST_F(ReturnBlocks, EveryOtherFirst) {
  return_in_order([](std::vector<void*>& blocks) {
    std::vector<void*> sorted;
    for (std::size_t first : {0u, 1u})
      for (std::size_t i = first; i < blocks.size(); i += 2) sorted.push_back(blocks[i]);
    blocks = sorted;
  });
}

TEST_F(ReturnBlocks, OwnAndOthersMixed) {
  const std::vector<void*> own = take(owner, 500), others = take(other, 500);
  std::vector<void*> mixed;
  for (std::size_t i = 0; i < own.size(); ++i) mixed.push_back(own[i]), mixed.push_back(others[i]);
  give_back(owner, mixed);
  EXPECT_EQ(owner.taken_bytes, 0u);
  EXPECT_GT(other.taken_bytes, 0u) << "until it collects";
  ReturnedPages returned;
  os::LockGuard guard(other.mutex);
  collect_all_announced_locked(other, returned);
  EXPECT_EQ(other.taken_bytes, 0u);
  EXPECT_GT(other.counters.remote_batches, 0u);
}

TEST_F(ReturnBlocks, StopsAfterSoManyWords) {
  std::vector<void*> blocks = take(owner, 2000);
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  const unsigned gone = return_some_blocks(&owner, blocks.data(), 2000, 4, returned);
  EXPECT_GT(gone, 0u);
  EXPECT_LE(gone, 4 * 64u);
  return_blocks(&owner, blocks.data() + gone, 2000 - gone, returned);
  EXPECT_EQ(owner.taken_bytes, 0u);
}

TEST_F(ReturnBlocks, TheSameBlockTwiceStopsTheProcess) {
  const std::vector<void*> blocks = take(owner, 3);
  const test::ChildResult result = test::run_in_child([&] {
    give_back(owner, {blocks[0], blocks[1], blocks[0]});
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.error.rfind("tarn: double free", 0), 0u) << result.error;
}

class RemoteFree : public OwnerFixture {
 protected:
  bool collect(SlabOwner& by) {
    ReturnedPages returned;
    os::LockGuard guard(by.mutex);
    return collect_pending_locked(by, kTestClass, returned);
  }
};

TEST_F(RemoteFree, BlocksComeBackWhenTheirOwnerCollects) {
  const std::vector<void*> blocks = take(owner, 20);
  Span* const slab = slab_of(blocks[0]);
  const std::uint32_t free_before = slab->free_count;
  give_back(other, blocks);
  EXPECT_EQ(slab->free_count, free_before) << "until the owner collects";
  EXPECT_TRUE(collect(owner));
  EXPECT_EQ(slab->free_count, free_before + 20);
  EXPECT_EQ(owner.taken_bytes, 0u);
}

TEST_F(RemoteFree, BlocksOfAnOrphanAreCollectedByTheFreer) {
  const std::vector<void*> blocks = take(owner, 20), kept = take(owner, 1);
  Span* const slab = slab_of(blocks[0]);
  end(owner);
  const std::uint32_t free_before = slab->free_count;
  give_back(other, blocks);
  EXPECT_EQ(slab->free_count, free_before + 20);
}

TEST_F(RemoteFree, AnOwnerThatDoesNotCollectIsHelped) {
  std::vector<void*> one_of_each_slab;
  const std::vector<void*> blocks = take(owner, 30000);
  const Span* last = nullptr;
  for (void* block : blocks)
    if (const Span* const slab = slab_of(block); slab != last) last = slab, one_of_each_slab.push_back(block);
  ASSERT_GT(one_of_each_slab.size(), 70u);
  give_back(other, one_of_each_slab);
  EXPECT_LE(owner.pending_count.load(), 65u);
}

TEST_F(RemoteFree, AnAnnouncementOfASlabThatWasAdoptedIsPassedOn) {
  const std::vector<void*> blocks = take(owner, 20);
  Span* const slab = slab_of(blocks[0]);
  const std::uint32_t free_before = slab->free_count;
  SlabOwner& third = begin();
  give_back(third, blocks);  // announced to the owner
  {
    os::LockGuard guard(owner.mutex);
    ASSERT_TRUE(other.mutex.try_lock());  // a second owner's is only ever tried
    move_slab(owner, other, slab);
    other.mutex.unlock();
  }
  EXPECT_FALSE(collect(owner)) << "the slab is another's now";
  EXPECT_TRUE(collect(other));
  EXPECT_EQ(slab->free_count, free_before + 20);
}

}  // namespace
}  // namespace tarn::internal
