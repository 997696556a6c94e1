// BufferPool and its shared buffers: sizes, caps, counts, references.
#include "tarn/buffer_pool.h"

#include <span>

#include "pool/buffers/buffer_pool_state.h"
#include "support/buffers.h"
#include "support/child.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/buffer_chain.h"
#include "tarn/memory_pool.h"
#include "tarn/pool_use.h"

namespace tarn::test {
namespace {

void validate(BufferPool& pool) { internal::validate(detail::BufferPoolAccess::state(pool)); }

std::vector<std::size_t> sizes_of(const BufferPool& pool) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < pool.size_count(); ++i) sizes.push_back(pool.use(i).block_bytes);
  return sizes;
}

TEST(BufferSizes, DoubleUpToTheLargest) {
  EXPECT_EQ(sizes_of(BufferPool()),
            (std::vector<std::size_t>{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}));
  EXPECT_EQ(sizes_of(BufferPool({.smallest_bytes = 100, .largest_bytes = 1500, .alignment = 4})),
            (std::vector<std::size_t>{104, 200, 400, 800, 1504}));
  EXPECT_EQ(sizes_of(BufferPool({.smallest_bytes = 2048, .largest_bytes = 2048})),
            (std::vector<std::size_t>{2048}));
  EXPECT_EQ(BufferPool({.smallest_bytes = 8, .largest_bytes = 262144, .alignment = 1}).size_count(), 16u);
}

TEST(BufferSizes, MayBeGivenAsAList) {
  constexpr BufferSize kSizes[] = {{24}, {32}, {1500, 2}, {9000}};
  const BufferPool pool({.sizes = kSizes, .alignment = 8, .above = AboveLargest::kRefuse});
  EXPECT_EQ(sizes_of(pool), (std::vector<std::size_t>{24, 32, 1504, 9000}));
}

TEST(BufferSizes, ThatAreNoneAreRefused) {
  const auto make = [](const BufferPoolOptions& options) { BufferPool pool(options); };
  EXPECT_THROW(make({.smallest_bytes = 0}), std::bad_alloc);
  EXPECT_THROW(make({.smallest_bytes = 4096, .largest_bytes = 2048}), std::bad_alloc);
  EXPECT_THROW(make({.largest_bytes = 262145}), std::bad_alloc);
  EXPECT_THROW(make({.alignment = 0}), std::bad_alloc);
  EXPECT_THROW(make({.alignment = 48}), std::bad_alloc);
  EXPECT_THROW(make({.alignment = 131072}), std::bad_alloc);
  EXPECT_THROW(make({.smallest_bytes = 8}), std::bad_alloc) << "16 is 64 too";
  constexpr BufferSize kDescending[] = {{128}, {64}}, kEqual[] = {{100}, {100}}, kNone[] = {{0}},
                       kLarge[] = {{262145}};
  for (const std::span<const BufferSize> sizes :
       {std::span<const BufferSize>(kDescending), {kEqual}, {kNone}, {kLarge}})
    EXPECT_THROW(make({.sizes = sizes}), std::bad_alloc);
  std::vector<BufferSize> many(33);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].bytes = 64 * (i + 1);
  EXPECT_THROW(make({.sizes = many}), std::bad_alloc);
  many.pop_back();
  EXPECT_EQ(BufferPool({.sizes = many}).size_count(), 32u);
}

TEST(ABufferPool, ServesEachRequestFromTheSmallestSizeThatHoldsIt) {
  constexpr BufferSize kSizes[] = {{24}, {64}, {72}, {80}, {520}, {4096}, {4104}};
  for (const bool has_list : {false, true}) {
    BufferPoolOptions options;
    if (has_list) options = {.sizes = kSizes, .alignment = 8};
    BufferPool pool(options);
    const std::vector<std::size_t> sizes = sizes_of(pool);
    for (std::size_t bytes = 0; bytes <= sizes.back(); ++bytes) {
      const std::size_t expected = *std::lower_bound(sizes.begin(), sizes.end(), bytes);
      ASSERT_EQ(pool.good_size(bytes), expected) << bytes;
      void* const block = pool.allocate(bytes);
      ASSERT_EQ(tarn::usable_size(block), expected) << bytes;
      pool.deallocate(block, bytes);
    }
    EXPECT_EQ(pool.good_size(sizes.back() + 1), sizes.back() + 1);
    EXPECT_EQ(live_count(pool), 0u);
    validate(pool);
  }
}

TEST(ABufferPool, ABlockGoesBackToItsSizeWhicheverWasHandedOutLast) {
  BufferPool pool({.smallest_bytes = 64, .largest_bytes = 256});
  const auto live = [&pool] {
    return std::vector<std::size_t>{pool.use(0).live_count, pool.use(1).live_count, pool.use(2).live_count};
  };
  for (int round = 0; round < 3; ++round) {  // from the second one on, with blocks that were freed
    void* const small = pool.allocate(64);
    void* const large = pool.allocate(256);
    void* const middle = pool.allocate(128);
    pool.deallocate(small);
    EXPECT_EQ(live(), (std::vector<std::size_t>{0, 1, 1}));
    pool.deallocate(middle);
    EXPECT_EQ(live(), (std::vector<std::size_t>{0, 0, 1}));
    pool.deallocate(pool.allocate(64));
    pool.deallocate(large);
    EXPECT_EQ(live(), (std::vector<std::size_t>{0, 0, 0}));
    validate(pool);
  }
}

TEST(ABufferPool, ABatchGivesBlocksOfOneSizeAndTakesThoseOfAnyBack) {
  BufferPool pool({.smallest_bytes = 64, .largest_bytes = 1024});
  Random random(fresh_seed());
  std::vector<std::pair<void*, std::size_t>> live;
  for (int round = 0; round < 200; ++round) {
    const std::size_t bytes = random.between(1, 1500), count = random.below(100);
    std::vector<void*> blocks(count);
    ASSERT_EQ(pool.allocate_batch(bytes, count, blocks.data()), count);
    for (void* block : blocks) {
      ASSERT_GE(tarn::usable_size(block), bytes);
      fill(block, bytes, address(block));
      live.push_back({block, bytes});
    }
    for (std::size_t i = 1; i < live.size(); ++i) std::swap(live[i], live[random.below(i + 1)]);
    std::vector<void*> freed{nullptr};
    for (std::size_t rest = random.below(live.size() + 1); live.size() > rest; live.pop_back()) {
      ASSERT_TRUE(holds(live.back().first, live.back().second, address(live.back().first)));
      freed.push_back(live.back().first);
    }
    pool.deallocate_batch(freed.data(), freed.size());
    ASSERT_EQ(live_count(pool), live.size());
  }
  validate(pool);
  for (const auto& block : live) pool.deallocate(block.first, block.second);
  EXPECT_EQ(live_count(pool), 0u);
  validate(pool);
}

TEST(ABufferPool, ABatchEndsAtACapAndIsRefusedOnce) {
  static int refusals;
  refusals = 0;
  BufferPool pool({.smallest_bytes = 64,
                   .largest_bytes = 1024,
                   .largest_count = 50,
                   .largest_above_bytes = 100000,
                   .at_cap = AtCap::kThrow,
                   .on_refusal = [](void*) { ++refusals; }});
  void* blocks[60];
  EXPECT_EQ(pool.allocate_batch(64, 60, blocks), 50u);
  EXPECT_EQ(refusals, 1);
  EXPECT_EQ(pool.use(0).refusals, 1u);
  EXPECT_EQ(pool.use(0).live_count, 50u);
  EXPECT_EQ(pool.use(0).peak_live_bytes, 50u * 64);
  pool.deallocate_batch(blocks, 50);
  EXPECT_EQ(pool.use(0).live_count, 0u);
  const std::size_t large = pool.allocate_batch(30000, 10, blocks);
  EXPECT_EQ(large, 3u);
  EXPECT_EQ(refusals, 2);
  EXPECT_EQ(pool.use_above().live_count, 3u);
  pool.deallocate_batch(blocks, large);
  EXPECT_EQ(pool.use_above().live_count, 0u);
  validate(pool);
}

TEST(ABufferPool, BlocksAreAlignedAndKeptApart) {
  for (const std::size_t alignment : {8u, 64u, 4096u}) {
    BufferPool pool({.smallest_bytes = 4096, .largest_bytes = 16384, .alignment = alignment});
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (int round = 0; round < 20; ++round)
      for (const std::size_t bytes : {1u, 4096u, 4097u, 16384u, 16385u, 100000u, 300000u}) {
        void* const block = pool.allocate(bytes);
        ASSERT_EQ(address(block) % alignment, 0u) << bytes;
        fill(block, bytes, blocks.size());
        blocks.push_back({block, bytes});
      }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      ASSERT_TRUE(holds(blocks[i].first, blocks[i].second, i));
      ASSERT_TRUE(pool.owns(blocks[i].first));
      i % 2 == 0 ? pool.deallocate(blocks[i].first) : tarn::deallocate(blocks[i].first);
    }
    pool.deallocate(nullptr);
    EXPECT_EQ(live_count(pool), 0u);
    validate(pool);
  }
}

TEST(ABufferPool, EachSizeHasItsOwnCap) {
  constexpr BufferSize kSizes[] = {{64, 3}, {1024}};
  BufferPool pool({.sizes = kSizes, .largest_count = 100, .largest_size_bytes = 5 * 1024 + 1000});
  std::vector<void*> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(pool.allocate(10));
  EXPECT_EQ(pool.allocate(10), nullptr);
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.allocate(1000));
  EXPECT_EQ(pool.allocate(1000), nullptr) << "six would be more bytes";
  EXPECT_EQ(pool.allocate(1000), nullptr);
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), nullptr), 0);
  EXPECT_FALSE(pool.allocate_shared(64));
  EXPECT_EQ(pool.use(0).refusals, 2u);
  EXPECT_EQ(pool.use(1).refusals, 2u);
  for (void* block : blocks) pool.deallocate(block);
  void* const again = pool.allocate(10);
  EXPECT_NE(again, nullptr);
  pool.deallocate(again);
}

TEST(ABufferPool, LargerBlocksAreLimitedOrRefused) {
  BufferPool limited({.largest_bytes = 1024, .largest_above_bytes = 100000});
  void* const block = limited.allocate(60000);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(limited.allocate(60000), nullptr);
  EXPECT_EQ(limited.use_above().refusals, 1u);
  EXPECT_EQ(limited.use_above().live_count, 1u);
  EXPECT_GE(limited.use_above().live_bytes, 60000u);
  limited.deallocate(block);
  EXPECT_EQ(limited.use_above().live_bytes, 0u);
  EXPECT_GE(limited.use_above().peak_live_bytes, 60000u);
  BufferPool refusing({.largest_bytes = 1024, .above = AboveLargest::kRefuse});
  EXPECT_EQ(refusing.allocate(1025), nullptr);
  EXPECT_FALSE(refusing.allocate_shared(1025));
  EXPECT_EQ(refusing.use_above().refusals, 2u);
  EXPECT_EQ(refusing.use_above().mapped_bytes, 0u);
  EXPECT_EQ(refusing.reserve(1025, 1), 0u);
}

TEST(ABufferPool, RefusesWhatIsTooLargeForAnything) {
  BufferPool pool;
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, std::size_t{1} << 48}) {
    EXPECT_EQ(pool.allocate(bytes), nullptr);
    EXPECT_FALSE(pool.allocate_shared(bytes));
  }
  EXPECT_FALSE(pool.allocate_shared(std::size_t{1} << 32)) << "a handle counts up to 4 GiB";
  EXPECT_EQ(pool.use_above().refusals, 9u);
}

TEST(ABufferPool, AskForTheHookAndAThrowAtTheCap) {
  int calls = 0;
  BufferPool pool({.largest_count = 1,
                   .above = AboveLargest::kRefuse,
                   .at_cap = AtCap::kThrow,
                   .on_refusal = [](void* context) { ++*static_cast<int*>(context); },
                   .context = &calls});
  void* const block = pool.allocate(100);
  EXPECT_THROW(static_cast<void>(pool.allocate(100)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(pool.allocate_shared(100)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(pool.allocate(100000)), std::bad_alloc);
  EXPECT_EQ(calls, 3);
  pool.deallocate(block);
}

TEST(ABufferPool, CountsLiveAndPeakOfEachSize) {
  BufferPool pool({.largest_bytes = 1024});
  constexpr std::size_t kInMagazine = 64;  // after so few calls
  for (const std::size_t most : {30u, 500u, 100u}) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < most; ++i) blocks.push_back(pool.allocate(100));
    const BufferUse use = pool.use(1);
    EXPECT_EQ(use.block_bytes, 128u);
    EXPECT_EQ(use.live_count, most);
    EXPECT_EQ(use.live_bytes, most * 128);
    EXPECT_GE(use.capacity, most);
    EXPECT_GE(use.mapped_bytes, use.live_bytes);
    const std::size_t peak = most == 30 ? 30 : 500;
    EXPECT_GE(use.peak_live_bytes, peak * 128);
    EXPECT_LE(use.peak_live_bytes, (peak + kInMagazine) * 128);
    // Whoever frees them.
    for (std::size_t i = 0; i < most; ++i)
      i % 2 == 0 ? pool.deallocate(blocks[i]) : tarn::deallocate(blocks[i]);
    EXPECT_EQ(pool.use(1).live_count, 0u);
    validate(pool);
  }
  EXPECT_EQ(pool.use(0).capacity + pool.use(2).capacity, 0u);
}

TEST(ABufferPool, TakesBackBlocksUnderAnySize) {
  BufferPool pool({.largest_bytes = 1024});
  for (const std::size_t told : {0u, 1u, 100u, 1024u, 5000u}) {
    void *const small = pool.allocate(100), *const large = pool.allocate(5000);
    pool.deallocate(small, told);
    pool.deallocate(large, told);
    pool.deallocate(nullptr, told);
  }
  EXPECT_EQ(pool.use(1).live_count + pool.use_above().live_count, 0u);
  validate(pool);
}

TEST(ABufferPool, GrowsByChunksAndGivesThemBack) {
  BufferPool pool({.smallest_bytes = 1024, .chunk_bytes = 64 * kKiB});
  EXPECT_EQ(pool.reserve(1000, 1), 64u);
  EXPECT_EQ(pool.prewarm(16384, 5), 8u);
  EXPECT_EQ(pool.use(0).capacity, 64u);
  void *const block = pool.allocate(5000), *const large = pool.allocate(50000);
  pool.deallocate(pool.allocate(60000));
  EXPECT_GE(pool.release_unused(), 64 * kKiB + 128 * kKiB);
  EXPECT_EQ(pool.use(0).capacity + pool.use(4).capacity, 0u);
  EXPECT_EQ(pool.use(3).live_count, 1u);
  pool.deallocate(block);
  pool.deallocate(large);
  pool.release_unused();
  EXPECT_EQ(pool.use(3).mapped_bytes + pool.use_above().mapped_bytes, 0u);
}

TEST(BufferPoolUse, HasAnEntryForEachSizeAndOneForLargerBlocks) {
  BufferPool pool({.name = "packets", .smallest_bytes = 64, .largest_bytes = 256});
  std::vector<void*> blocks;
  for (const std::size_t bytes : {10u, 100u, 120u, 100000u}) blocks.push_back(pool.allocate(bytes));
  std::vector<PoolUse> found;
  for_each_pool(
      [](const PoolUse& use, void* context) {
        if (std::strcmp(use.name, "packets") == 0)
          static_cast<std::vector<PoolUse>*>(context)->push_back(use);
      },
      &found);
  ASSERT_EQ(found.size(), 4u);
  for (const PoolUse& use : found) EXPECT_STREQ(use.kind, "buffer pool");
  EXPECT_EQ(found[1].block_bytes, 128u);
  EXPECT_EQ(found[1].live_count, 2u);
  EXPECT_GE(found[1].peak_live_bytes, 256u);
  EXPECT_EQ(found[3].block_bytes, 0u);
  EXPECT_EQ(found[3].live_count, 1u);
  for (void* block : blocks) pool.deallocate(block);
}

// -- Shared buffers ---------------------------------------------------------------------------------

TEST(ABufferPool, ASharedBufferEndsWithItsLastHandle) {
  BufferPool pool;
  for (const std::size_t bytes : {0u, 1u, 64u, 2048u, 16384u, 16385u, 500000u}) {
    SharedBuffer first = pool.allocate_shared(bytes);
    ASSERT_TRUE(first);
    EXPECT_EQ(first.size(), bytes);
    EXPECT_EQ(address(first.data()) % 64, 0u);
    EXPECT_EQ(first.reference_count(), 1u);
    fill(first.data(), bytes, bytes);
    SharedBuffer second = first;
    EXPECT_EQ(second.data(), first.data());
    EXPECT_EQ(first.reference_count(), 2u);
    const SharedBuffer third = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(first.data(), nullptr);
    EXPECT_EQ(first.size() + first.reference_count(), 0u);
    first = second;
    first = first;
    EXPECT_EQ(third.reference_count(), 3u);
    first.reset();
    first.reset();
    second = SharedBuffer();
    EXPECT_EQ(third.reference_count(), 1u);
    EXPECT_TRUE(holds(third.data(), bytes, bytes));
    EXPECT_EQ(live_count(pool), 1u);
    validate(pool);
  }
  EXPECT_EQ(live_count(pool), 0u);
  validate(pool);
}

TEST(ABufferPool, AHandleMayBeExtendedToTheEndOfItsBlock) {
  BufferPool pool;
  EXPECT_EQ(SharedBuffer().capacity(), 0u);
  for (const std::size_t bytes : {0, 1, 100, 16000, 100000}) {
    SharedBuffer buffer = pool.allocate_shared(bytes);
    const std::size_t capacity = buffer.capacity();
    EXPECT_GE(capacity, bytes);
    EXPECT_LE(buffer.slice(bytes / 2, 0).capacity(), capacity - bytes / 2) << "less where a checker looks";
    buffer.extend(capacity - bytes);
    EXPECT_EQ(buffer.size(), capacity);
    std::memset(buffer.data(), 1, buffer.size());
    EXPECT_EQ(std::count(buffer.begin(), buffer.end(), 1), static_cast<std::ptrdiff_t>(capacity));
  }
}

TEST(ABufferPool, SlicesKeepTheWholeBuffer) {
  BufferPool pool;
  for (const std::size_t bytes : {1000u, 100000u}) {
    SharedBuffer part;
    {
      SharedBuffer whole = pool.allocate_shared(bytes);
      for (std::size_t i = 0; i < bytes; ++i) whole.data()[i] = static_cast<char>(i % 251);
      part = whole.slice(100, 700);
      EXPECT_EQ(whole.reference_count(), 2u);
      EXPECT_EQ(whole.size(), bytes);
    }
    EXPECT_EQ(part.reference_count(), 1u);
    ASSERT_EQ(part.size(), 700u);
    part.remove_prefix(50);
    part.truncate(600);
    SharedBuffer inner = part.slice(100, 0);
    EXPECT_TRUE(inner);
    EXPECT_EQ(inner.size(), 0u);
    EXPECT_EQ(inner.data(), part.data() + 100);
    part = part.slice(0, part.size());
    EXPECT_EQ(part.reference_count(), 2u);
    EXPECT_EQ(part.data()[0], static_cast<char>(150));
    EXPECT_EQ(part.data()[599], static_cast<char>(749 % 251));
    EXPECT_EQ(live_count(pool), 1u);
  }
  EXPECT_EQ(live_count(pool), 0u);
}

TEST(ABufferPool, HandlesEndInOtherThreads) {
  BufferPool pool;
  const std::uint64_t rounds = amount(3000, 100000);
  for (int unused = 0; unused < 2; ++unused) {  // the second with slabs that were used
    std::vector<SharedBuffer> shared;
    for (unsigned i = 0; i < 32; ++i) shared.push_back(pool.allocate_shared(50 + 900 * i));
    std::atomic<std::uint64_t> sum{0};
    in_threads(3, [&, mine = shared](unsigned t) mutable {
      Random random(t);
      for (std::uint64_t i = 0; i < rounds; ++i) {
        SharedBuffer& one = mine[random.below(mine.size())];
        SharedBuffer copy = one;
        if (i % 3 == 0) one = pool.allocate_shared(random.below(20000));
        sum += copy.size();
      }
    });
    EXPECT_NE(sum, 0u);
    EXPECT_EQ(live_count(pool), shared.size());
    for (const SharedBuffer& buffer : shared) EXPECT_EQ(buffer.reference_count(), 1u);
  }
  EXPECT_EQ(live_count(pool), 0u);
  validate(pool);
}

// Each buffer is ended by whichever of two threads comes last; what one wrote before, the other has seen.
TEST(ABufferPool, TheLastOfTwoThreadsFreesTheBuffer) {
  BufferPool pool({.largest_count = 4});
  for (std::uint64_t i = amount(300, 5000); i-- > 0;) {
    SharedBuffer buffer = pool.allocate_shared(64);
    ASSERT_TRUE(buffer) << "a buffer was lost";
    std::thread other([copy = buffer]() mutable {
      copy.data()[0] = 'x';
      copy.reset();
    });
    buffer.data()[1] = 'y';
    buffer.reset();
    other.join();
  }
  EXPECT_EQ(live_count(pool), 0u);
}

TEST(ABufferPool, AHandleMayHaveTheMostReferences) {
  BufferPool pool;
  SharedBuffer buffer = pool.allocate_shared(64);
  std::uint32_t* const others = detail::BufferHandleAccess::handle(buffer).others;
  *others = detail::kMostReferences - 2;
  SharedBuffer last = buffer;
  EXPECT_EQ(buffer.reference_count(), detail::kMostReferences);
  last.reset();
  EXPECT_EQ(buffer.reference_count(), detail::kMostReferences - 1);
  *others = 0;
}

// -- The end ----------------------------------------------------------------------------------------------

/// The entries of buffer pools in the list of all pools, and their live blocks.
struct Listed {
  std::size_t entries = 0, live = 0;
};

Listed listed() {
  Listed sum;
  for_each_pool(
      [](const PoolUse& use, void* context) {
        if (std::strcmp(use.kind, "buffer pool") != 0) return;
        ++static_cast<Listed*>(context)->entries;
        static_cast<Listed*>(context)->live += use.live_count;
      },
      &sum);
  return sum;
}

TEST(BufferPoolEnd, ReportsLiveBuffersAndTheyStayValid) {
  for (const AtPoolEnd at_end : {AtPoolEnd::kReport, AtPoolEnd::kHandOver}) {
    const ChildResult result = run_in_child([&] {
      BufferChain chain;
      SharedBuffer small, large;
      void* plain = nullptr;
      {
        BufferPool pool({.name = "packets", .at_end = at_end});
        small = pool.allocate_shared(100);
        large = pool.allocate_shared(100000);
        plain = pool.allocate(1000);
        std::memset(plain, 1, 1000);
        chain.append(large.slice(10, 20));
      }
      std::memset(small.data(), 2, small.size());
      std::memset(large.data(), 3, large.size());
      SharedBuffer copy = small;
      small.reset();
      copy.reset();
      large.reset();
      chain.clear();
      tarn::deallocate(plain);
      tarn::trim();
      return listed().live == 0 ? 0 : 1;
    });
    EXPECT_TRUE(result.is_success()) << result.describe();
    const bool is_reported = result.error.starts_with("tarn: 'packets' ended with 3 live buffers, ");
    EXPECT_EQ(is_reported, at_end == AtPoolEnd::kReport) << result.error;
  }
}

TEST(BufferPoolEnd, FreesThemWhereItIsAskedTo) {
  const ChildResult result = run_in_child([] {
    for (int i = 0; i < 100; ++i) {
      BufferPool pool({.at_end = AtPoolEnd::kDestroy});
      for (const std::size_t bytes : {100u, 10000u, 100000u}) {
        std::memset(pool.allocate(bytes), 1, bytes);
        BufferChain forgotten;
        forgotten.append(pool.allocate_shared(bytes));
        alignas(BufferChain) static char memory[sizeof(BufferChain)];
        new (memory) BufferChain(std::move(forgotten));
      }
    }
    return listed().entries == 0 ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
  EXPECT_EQ(result.error, "");
}

}  // namespace
}  // namespace tarn::test
