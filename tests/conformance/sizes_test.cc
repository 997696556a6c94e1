// usable_size and good_size agree with what is handed out. The system's malloc has no good_size.
#include "conformance/conformance.h"

namespace tarn::test {
namespace {

template <typename Pool>
class Sizes : public Conformance<Pool> {};
TYPED_TEST_SUITE(Sizes, SizedPools);

// The first blocks of a size may be larger, before it is known to be in use.
void end_rare_sizes() {
#if !defined(TARN_TEST_MALLOC)
  tarn::prewarm(0);
#endif
}

// Above this size a block that was freed before may serve as it is, up to half as large again.
constexpr std::size_t kLargestOfOneSize = 256 * kKiB;

TYPED_TEST(Sizes, NullHasNoUsableBytes) { EXPECT_EQ(TypeParam::usable_size(nullptr), 0u); }

TYPED_TEST(Sizes, UsableSizeIsTheSameForEveryBlockOfASize) {
  end_rare_sizes();
  for (const std::size_t size : boundary_sizes(up_to<TypeParam>(4 * kMiB))) {
    Block<TypeParam> one(TypeParam::allocate(size)), another(TypeParam::allocate(size));
#if !defined(TARN_TEST_MALLOC)
    if (size <= kLargestOfOneSize) {
      EXPECT_EQ(TypeParam::usable_size(one.get()), TypeParam::usable_size(another.get())) << size;
    }
#endif
    EXPECT_GE(TypeParam::usable_size(one.get()), size);
  }
}

#if !defined(TARN_TEST_MALLOC)
TYPED_TEST(Sizes, GoodSizeIsWhatABlockWouldHave) {
  end_rare_sizes();
  for (const std::size_t size : boundary_sizes(up_to<TypeParam>(kLargestTested))) {
    Block<TypeParam> block(TypeParam::allocate(size));
    const std::size_t good = TypeParam::good_size(size), usable = TypeParam::usable_size(block.get());
    if (size <= kLargestOfOneSize) {
      EXPECT_EQ(good, usable) << size;
    } else {
      EXPECT_LE(good, usable) << size;
      EXPECT_LE(usable, good + good / 2) << size;
    }
  }
}

TYPED_TEST(Sizes, GoodSizeOfAGoodSizeIsItself) {
  for (const std::size_t size : boundary_sizes(up_to<TypeParam>(64 * kMiB))) {
    const std::size_t good = TypeParam::good_size(size);
    EXPECT_GE(good, size);
    EXPECT_EQ(TypeParam::good_size(good), good) << size;
  }
}

TYPED_TEST(Sizes, GoodSizeNeverFallsAsSizesGrow) {
  std::size_t before = 0;
  for (std::size_t size = 0; size <= 300 * kKiB; ++size) {
    const std::size_t good = TypeParam::good_size(size);
    ASSERT_GE(good, before) << size;
    before = good;
  }
}

TYPED_TEST(Sizes, GoodSizeOfAnImpossibleSizeIsThatSize) {
  EXPECT_EQ(TypeParam::good_size(SIZE_MAX), SIZE_MAX);
  EXPECT_EQ(TypeParam::good_size(SIZE_MAX - 100), SIZE_MAX - 100);
}

TYPED_TEST(Sizes, ABlockGivenBackWithAnySizeItMayHaveHadIsReused) {
  for (std::size_t size = 1; size <= 2000; size += 7) {
    const std::size_t usable = TypeParam::good_size(size);
    for (const std::size_t told : {size, (size + usable) / 2, usable}) {
      void* const block = TypeParam::allocate(size);
      TypeParam::deallocate(block, told);
      void* const again = TypeParam::allocate(told);
      ASSERT_GE(TypeParam::usable_size(again), told);
      TypeParam::deallocate(again, told);
    }
  }
}
#endif

}  // namespace
}  // namespace tarn::test
