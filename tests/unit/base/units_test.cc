#include "base/units.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "tarn/detail/bins.h"

namespace tarn::internal {
namespace {

template <typename A, typename B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
concept Compares = requires(A a, B b) {
  a < b;
};

// No plain number (bytes, an index of a page) can be passed for a number of pages, nor the other way round.
static_assert(!std::is_convertible_v<std::size_t, PageCount> &&
              !std::is_convertible_v<PageCount, std::size_t>);
static_assert(!std::is_convertible_v<unsigned, PageCount> && !std::is_convertible_v<PageCount, unsigned>);
static_assert(!std::is_convertible_v<int, PageCount> && !std::is_convertible_v<PageCount, bool>);
static_assert(Adds<PageCount, PageCount> && !Adds<PageCount, std::size_t> && !Adds<PageCount, int>);
static_assert(Compares<PageCount, PageCount> && !Compares<PageCount, std::size_t> &&
              !Compares<PageCount, int>);

// Nor can bytes, an address, a class or a number of blocks be passed for the index of a block.
static_assert(!std::is_convertible_v<std::size_t, BlockIndex> &&
              !std::is_convertible_v<BlockIndex, std::size_t>);
static_assert(!std::is_convertible_v<unsigned, BlockIndex> && !std::is_convertible_v<BlockIndex, unsigned>);
static_assert(!std::is_convertible_v<int, BlockIndex> && !std::is_convertible_v<void*, BlockIndex>);
static_assert(!std::is_convertible_v<detail::SizeClass, BlockIndex>);
static_assert(!std::is_convertible_v<PageCount, BlockIndex> && !std::is_convertible_v<BlockIndex, PageCount>);
static_assert(!Adds<BlockIndex, BlockIndex> && !Adds<BlockIndex, unsigned>);
static_assert(Compares<BlockIndex, BlockIndex> && !Compares<BlockIndex, unsigned>);

TEST(Units, BytesAreHeldByTheFewestPages) {
  EXPECT_EQ(pages_for(0), PageCount{0});
  EXPECT_EQ(pages_for(1), PageCount{1});
  EXPECT_EQ(pages_for(kPageBytes), PageCount{1});
  EXPECT_EQ(pages_for(kPageBytes + 1), PageCount{2});
  EXPECT_EQ(bytes_of(pages_for(kChunkBytes)), kChunkBytes);
}

TEST(Units, ManyPagesAreMoreBytesThan32BitsHold) {
  const PageCount pages{1u << 20};
  EXPECT_EQ(bytes_of(pages), std::size_t{1} << 36);
  EXPECT_EQ(pages_for(std::size_t{1} << 36), pages);
}

TEST(Units, PagesAddUp) {
  PageCount pages{3};
  pages += PageCount{5};
  EXPECT_EQ(pages, PageCount{8});
  pages -= PageCount{1};
  EXPECT_EQ(number_of(pages), 7u);
  EXPECT_EQ(pages + PageCount{1} - PageCount{2}, PageCount{6});
  EXPECT_LT(PageCount{6}, pages);
}

}  // namespace
}  // namespace tarn::internal
