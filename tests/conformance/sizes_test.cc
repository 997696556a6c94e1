// usable_size and good_size agree with what is handed out. The system's malloc has no good_size.
#include "conformance/conformance.h"
#if !defined(TARN_TEST_MALLOC)
#include "tarn/memory_pool.h"
#endif

namespace tarn::test {
namespace {

class Sizes : public Conformance {};
#if defined(TARN_TEST_MALLOC)
INSTANTIATE_TEST_SUITE_P(, Sizes, ::testing::ValuesIn(pools()), name_of);
#else
INSTANTIATE_TEST_SUITE_P(, Sizes, pools_with(&Pool::good_size), name_of);
#endif

// The first blocks of a size may be larger, before it is known to be in use.
void end_rare_sizes() {
#if !defined(TARN_TEST_MALLOC)
  tarn::prewarm(0);
#endif
}

// Above this size a block that was freed before may serve as it is, up to half as large again.
constexpr std::size_t kLargestOfOneSize = 256 * kKiB;

TEST_P(Sizes, NullHasNoUsableBytes) { EXPECT_EQ(pool().usable_size(nullptr), 0u); }

TEST_P(Sizes, UsableSizeIsTheSameForEveryBlockOfASize) {
  end_rare_sizes();
  for (const std::size_t size : boundary_sizes(up_to(4 * kMiB))) {
    Block one(pool(), pool().allocate(size)), another(pool(), pool().allocate(size));
#if !defined(TARN_TEST_MALLOC)
    if (size <= kLargestOfOneSize) {
      EXPECT_EQ(pool().usable_size(one.get()), pool().usable_size(another.get())) << size;
    }
#endif
    EXPECT_GE(pool().usable_size(one.get()), size);
  }
}

#if !defined(TARN_TEST_MALLOC)
TEST_P(Sizes, GoodSizeIsWhatABlockWouldHave) {
  end_rare_sizes();
  for (const std::size_t size : boundary_sizes(up_to(kLargestTested))) {
    Block block(pool(), pool().allocate(size));
    const std::size_t good = pool().good_size(size), usable = pool().usable_size(block.get());
    if (size <= kLargestOfOneSize) {
      EXPECT_EQ(good, usable) << size;
    } else {
      EXPECT_LE(good, usable) << size;
      EXPECT_LE(usable, good + good / 2) << size;
    }
  }
}

TEST_P(Sizes, GoodSizeOfAGoodSizeIsItself) {
  for (const std::size_t size : boundary_sizes(up_to(64 * kMiB))) {
    const std::size_t good = pool().good_size(size);
    EXPECT_GE(good, size);
    EXPECT_EQ(pool().good_size(good), good) << size;
  }
}

TEST_P(Sizes, GoodSizeNeverFallsAsSizesGrow) {
  std::size_t before = 0;
  for (std::size_t size = 0; size <= 300 * kKiB; ++size) {
    const std::size_t good = pool().good_size(size);
    ASSERT_GE(good, before) << size;
    before = good;
  }
}

TEST_P(Sizes, GoodSizeOfAnImpossibleSizeIsThatSize) {
  EXPECT_EQ(pool().good_size(SIZE_MAX), SIZE_MAX);
  EXPECT_EQ(pool().good_size(SIZE_MAX - 100), SIZE_MAX - 100);
}

TEST_P(Sizes, ABlockGivenBackWithAnySizeItMayHaveHadIsReused) {
  for (std::size_t size = 1; size <= 2000; size += 7) {
    const std::size_t usable = pool().good_size(size);
    for (const std::size_t told : {size, (size + usable) / 2, usable}) {
      void* const block = pool().allocate(size);
      pool().deallocate_sized(block, told);
      void* const again = pool().allocate(told);
      ASSERT_GE(pool().usable_size(again), told);
      pool().deallocate_sized(again, told);
    }
  }
}
#endif

}  // namespace
}  // namespace tarn::test
