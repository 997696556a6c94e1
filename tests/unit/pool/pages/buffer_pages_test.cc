#include "pool/pages/buffer_pages.h"

#include "support/prelude.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kUnit = BufferPages::kUnitBytes;

/// Stands for a span; it is only ever compared.
Span* span(std::uintptr_t number) { return reinterpret_cast<Span*>(number * sizeof(Span)); }

class Pages {
 public:
  explicit Pages(std::size_t units) : memory_(static_cast<char*>(aligned_alloc(kUnit, units * kUnit))) {
    EXPECT_TRUE(pages.begin(memory_, units * kUnit));
  }
  ~Pages() {
    pages.end();
    free(memory_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  char* at(std::size_t unit) const { return memory_ + unit * kUnit; }

  BufferPages pages;

 private:
  char* memory_;
};

TEST(BufferPages, TakesTheFirstRunThatIsLongEnough) {
  Pages buffer(10);
  EXPECT_EQ(buffer.pages.take(span(1), 3 * kUnit, kUnit), buffer.at(0));
  EXPECT_EQ(buffer.pages.take(span(2), kUnit, kUnit), buffer.at(3));
  EXPECT_EQ(buffer.pages.take(span(3), 3 * kUnit, kUnit), buffer.at(4));
  buffer.pages.give_back(buffer.at(0), 3 * kUnit);
  EXPECT_EQ(buffer.pages.take(span(4), 4 * kUnit, kUnit), nullptr) << "7 .. 9 are three";
  EXPECT_EQ(buffer.pages.take(span(4), 2 * kUnit, kUnit), buffer.at(0));
  EXPECT_EQ(buffer.pages.take(span(5), 2 * kUnit, kUnit), buffer.at(7));
  EXPECT_EQ(buffer.pages.take(span(6), kUnit, kUnit), buffer.at(2));
  EXPECT_EQ(buffer.pages.take(span(7), kUnit, kUnit), buffer.at(9));
  EXPECT_EQ(buffer.pages.take(span(8), kUnit, kUnit), nullptr);
}

TEST(BufferPages, FindsTheSpanOfEveryByteItHolds) {
  Pages buffer(4);
  buffer.pages.take(span(1), kUnit, kUnit);
  buffer.pages.take(span(2), 2 * kUnit, kUnit);
  EXPECT_EQ(buffer.pages.find(buffer.at(0)), span(1));
  EXPECT_EQ(buffer.pages.find(buffer.at(1) - 1), span(1));
  EXPECT_EQ(buffer.pages.find(buffer.at(1)), span(2));
  EXPECT_EQ(buffer.pages.find(buffer.at(3) - 1), span(2));
  EXPECT_EQ(buffer.pages.find(buffer.at(3)), nullptr) << "free";
  EXPECT_EQ(buffer.pages.find(buffer.at(4)), nullptr);
  EXPECT_EQ(buffer.pages.find(buffer.at(0) - 1), nullptr);
  EXPECT_EQ(buffer.pages.find(nullptr), nullptr);
}

TEST(BufferPages, RunsBeginAtTheirAlignment) {
  Pages buffer(200);
  for (std::size_t alignment = kUnit; alignment <= 64 * kUnit; alignment *= 2) {
    char* const first = buffer.pages.take(span(1), kUnit, kUnit);
    char* const aligned = buffer.pages.take(span(2), 2 * kUnit, alignment);
    ASSERT_NE(aligned, nullptr);
    EXPECT_EQ(address_of(aligned) % alignment, 0u);
    buffer.pages.give_back(aligned, 2 * kUnit);
    buffer.pages.give_back(first, kUnit);
  }
}

TEST(BufferPages, RunsNeverOverlapInRandomPrograms) {
  constexpr std::size_t kUnits = 300;
  Pages buffer(kUnits);
  test::Random random(1);
  std::map<std::size_t, std::size_t> taken;  // first unit -> units
  std::size_t used = 0;
  for (int i = 0; i < 20000; ++i) {
    if (random.below(2) == 0) {
      const std::size_t count = 1 + random.below(random.below(10) == 0 ? 100 : 8);
      const std::size_t alignment = kUnit << random.below(4);
      char* const start = buffer.pages.take(span(count), count * kUnit, alignment);
      if (start == nullptr) {
        ASSERT_TRUE(count > 1 || alignment > kUnit || used == kUnits);
        continue;
      }
      ASSERT_EQ(address_of(start) % alignment, 0u);
      const std::size_t first = static_cast<std::size_t>(start - buffer.at(0)) / kUnit;
      const auto after = taken.lower_bound(first);
      ASSERT_TRUE(after == taken.end() || after->first >= first + count);
      ASSERT_TRUE(after == taken.begin() || std::prev(after)->first + std::prev(after)->second <= first);
      ASSERT_LE(first + count, kUnits);
      taken[first] = count;
      used += count;
    } else if (!taken.empty()) {
      auto run = taken.lower_bound(random.below(kUnits));
      if (run == taken.end()) run = taken.begin();
      ASSERT_EQ(buffer.pages.find(buffer.at(run->first)), span(run->second));
      buffer.pages.give_back(buffer.at(run->first), run->second * kUnit);
      used -= run->second;
      taken.erase(run);
    }
  }
}

TEST(BufferPages, ABufferWithoutAWholePageIsNone) {
  alignas(kUnit) static char memory[2 * kUnit];
  BufferPages pages;
  EXPECT_FALSE(pages.begin(memory, 0));
  EXPECT_FALSE(pages.begin(memory, kUnit - 1));
  EXPECT_FALSE(pages.begin(memory + 1, 2 * kUnit - 2));
  EXPECT_FALSE(pages.is_active());
  pages.end();
  EXPECT_TRUE(pages.begin(memory + 1, 2 * kUnit - 1));
  EXPECT_EQ(pages.take(span(1), kUnit, kUnit), memory + kUnit);
  EXPECT_EQ(pages.take(span(1), kUnit, kUnit), nullptr);
  pages.end();
  EXPECT_FALSE(pages.is_active());
}

}  // namespace
}  // namespace tarn::internal
