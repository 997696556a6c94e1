#include "page/spans/span.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kLargestWords = 128;

void expect_fresh(const Span* span, std::uint32_t words) {
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->kind, SpanKind::kFree);
  EXPECT_EQ(span->owner.load(), nullptr);
  for (std::uint32_t word = 0; word < words; ++word) ASSERT_EQ(span->remote_bits[word].load(), 0u) << words;
}

TEST(SpanStore, GivesASpanWithRoomForItsBitsAndTheyAreClear) {
  for (std::uint32_t words = 0; words <= kLargestWords; ++words) {
    Span* const span = span_store.take(words);
    expect_fresh(span, words);
    for (std::uint32_t word = 0; word < words; ++word) {
      span->free_bits[word] = ~std::uint64_t{0};
      EXPECT_EQ(span->remote_bits[word].load(), 0u) << "the two bitmaps overlap";
    }
  }
}

TEST(SpanStore, BitsAreClearAlsoInRecordsThatServedOthersBefore) {
  std::vector<void*> used;
  for (std::size_t bytes = 64; bytes <= 4096; bytes += 64) {
    used.push_back(metadata.allocate(bytes));
    std::memset(used.back(), 0xff, bytes);
  }
  for (std::size_t bytes = 64; bytes <= 4096; bytes += 64) metadata.free(used[bytes / 64 - 1], bytes);
  for (std::uint32_t words = 0; words <= kLargestWords; ++words) expect_fresh(span_store.take(words), words);
}

TEST(SpanStore, ASpanGivenBackServesTheNextOfItsCapacity) {
  Span* const span = span_store.take(10);
  span->owner.store(reinterpret_cast<SlabOwner*>(8));
  span->kind = SpanKind::kSlab;
  span_store.give_back(span);
  Span* const again = span_store.take(12);
  EXPECT_EQ(again, span);
  expect_fresh(again, 12);
}

TEST(SpanStore, SpansOfOneCapacityNeverServeALargerOne) {
  Span* const small = span_store.take(1);
  span_store.give_back(small);
  EXPECT_NE(span_store.take(kLargestWords), small);
}

TEST(Span, ContainsItsBytesAndNoOthers) {
  static char memory[4 * kPageBytes];
  Span span{};
  span.start = memory + kPageBytes;
  span.pages = PageCount{2};
  EXPECT_TRUE(span.contains(span.start));
  EXPECT_TRUE(span.contains(span.start + 2 * kPageBytes - 1));
  EXPECT_FALSE(span.contains(span.start - 1));
  EXPECT_FALSE(span.contains(span.start + 2 * kPageBytes));
}

}  // namespace
}  // namespace tarn::internal
