#include "tune/class_table.h"

#include "support/error_of.h"
#include "support/prelude.h"
#include "tune/size_histogram.h"

namespace tarn::tune {
namespace {

SizeHistogram histogram_of(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> counts) {
  SizeHistogram histogram;
  for (const auto& [size, count] : counts) histogram.add(size, count);
  return histogram;
}

BlockSizes default_table() { return internal::sizes_of_preset(internal::kSizeClassPresets[0]); }

bool has(const BlockSizes& table, std::uint32_t bytes) {
  return std::find(table.begin(), table.end(), bytes) != table.end();
}

/// The least cost of any table for requests of the part up to 16 KiB: each choice of the few classes that can
/// matter, which end where the requests rounded up do.
double least_cost(const std::vector<std::pair<std::uint32_t, std::uint64_t>>& counts, double price) {
  double least = 1e300;
  for (unsigned chosen = 0; chosen < 1u << (counts.size() - 1); ++chosen) {
    double cost = 0;
    std::uint64_t blocks = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      blocks += counts[i].second;
      if (i + 1 != counts.size() && (chosen >> i & 1) == 0) continue;
      const std::uint32_t block_bytes = (counts[i].first + 63) / 64 * 64;
      cost += static_cast<double>(blocks) * bytes_of_block(block_bytes, block_bytes) + price;
      blocks = 0;
    }
    least = std::min(least, cost);
  }
  return least;
}

TEST(BytesOfBlock, AreItsShareOfASlabAndOfOsPagesWhereItHasOneOfItsOwn) {
  EXPECT_DOUBLE_EQ(bytes_of_block(64, 64), 64);
  EXPECT_DOUBLE_EQ(bytes_of_block(4416, 4416), 262144.0 / 59);
  EXPECT_DOUBLE_EQ(bytes_of_block(4096, 4000), 262144.0 / 63) << "its stride is a line more";
  EXPECT_DOUBLE_EQ(bytes_of_block(49152, 33000), 36864) << "what the request does not touch has no memory";
  EXPECT_DOUBLE_EQ(bytes_of_block(40960, 40960), 40960);
}

TEST(CostOf, CountsRequestsFloorSlabsAndClasses) {
  const TableCost cost =
      cost_of(default_table(), histogram_of({{5, 10}, {17, 100}, {20, 100}, {4360, 59}}), 4096);
  EXPECT_EQ(cost.requested, 50u + 1700 + 2000 + 4360 * 59);
  EXPECT_EQ(cost.floor, 80u + 3200 + 3200 + 4368 * 59);
  EXPECT_EQ(cost.classes, 3u);
  EXPECT_DOUBLE_EQ(cost.price, 3 * 4096);
  EXPECT_DOUBLE_EQ(cost.blocks, 80 + 6400 + 59 * bytes_of_block(4608, 4360));
  EXPECT_DOUBLE_EQ(cost.waste(), cost.blocks + cost.price - static_cast<double>(cost.floor));
}

TEST(CostOf, LeavesOutBlocksWithoutAClass) {
  EXPECT_EQ(cost_of(default_table(), histogram_of({{16, 1}, {262145, 9}}), 0).requested, 16u);
}

TEST(Fit, GivesADominantSizeAClassOfItsOwn) {
  const BlockSizes table = fit(histogram_of({{4360, 10000}, {100, 5}}), {});
  EXPECT_TRUE(has(table, 4416));
  EXPECT_LT(cost_of(table, histogram_of({{4360, 10000}}), 4096).waste_percent(), 2.5);
}

TEST(Fit, KeepsAllSmallClassesUnlessTheyMayMerge) {
  const SizeHistogram histogram = histogram_of({{100, 3}, {120, 3}, {4360, 10000}});
  const BlockSizes kept = fit(histogram, {});
  for (std::uint32_t bytes = 16; bytes <= 1024; bytes += 16) EXPECT_TRUE(has(kept, bytes)) << bytes;
  EXPECT_TRUE(has(kept, 8));
  const BlockSizes merged = fit(histogram, {.small_classes = SmallClasses::kMayMerge});
  EXPECT_EQ(cost_of(merged, histogram, 4096).classes, 2u);
}

TEST(Fit, ClassesOfBlocksWithTheirOwnPagesSaveNothingButTheirPrice) {
  const SizeHistogram histogram = histogram_of({{36000, 100000}, {40000, 100000}, {45000, 100000}});
  const BlockSizes table = fit(histogram, {});
  EXPECT_EQ(cost_of(table, histogram, 4096).classes, 1u);
  EXPECT_TRUE(has(table, 49152)) << "as `default`, since the next would be far larger";
}

TEST(Fit, AClassIsOnlyWorthWhatItSaves) {
  const auto classes_for = [](std::uint64_t count) {
    const SizeHistogram histogram = histogram_of({{1984, count}, {2176, 10000}});
    return cost_of(fit(histogram, {}), histogram, 4096).classes;
  };
  EXPECT_EQ(classes_for(2), 1u);
  EXPECT_EQ(classes_for(100000), 2u);
}

// Of each size so many that none shares the class of one half larger, which a table has another rule for.
TEST(Fit, NeverCostsMoreThanAnyTableOfTheSameSizes) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;
    SizeHistogram histogram;
    for (std::uint32_t size = 1030; counts.size() < 8; size += 64 + random() % 1500)
      if (const std::uint64_t count = 14 + random() % 300; size < 16000) {
        counts.emplace_back(size, count);
        histogram.add(size, count);
      } else {
        break;
      }
    const double price = random() % 3 * 3000.0;
    const TableCost cost = cost_of(fit(histogram, {.price = price}), histogram, price);
    ASSERT_LE(cost.heap(), least_cost(counts, price) * (1 + 1e-12)) << i;
  }
}

TEST(Fit, NeverCostsMoreThanAPresetAndIsATable) {
  std::mt19937 random(2);
  for (int i = 0; i < 50; ++i) {
    SizeHistogram histogram;
    for (unsigned sizes = 1 + random() % 200; sizes != 0; --sizes)
      histogram.add(random() % (1u << (4 + random() % 15)), 1 + random() % 1000);
    const BlockSizes table = fit(histogram, {.small_classes = SmallClasses::kMayMerge});
    for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets)
      if (internal::sizes_of_preset(preset).medium_count() <= internal::kMostMediumSizes) {
        ASSERT_LE(cost_of(table, histogram, 4096).heap(),
                  cost_of(internal::sizes_of_preset(preset), histogram, 4096).heap() * (1 + 1e-12));
      }
    BlockSizes read;
    internal::BlockSizesFault fault;
    ASSERT_TRUE(internal::read_block_sizes(text_of_table(table, "a comment"), read, fault))
        << std::string(fault.what.data(), fault.what.length());
    ASSERT_TRUE(std::equal(read.begin(), read.end(), table.begin(), table.end()));
  }
}

TEST(Fit, ServesSizesThatWereNotSeenAsTheDefaultDoesWhereThereIsRoom) {
  const BlockSizes table = fit(histogram_of({{4360, 10000}}), {}), usual = default_table();
  for (const std::uint32_t bytes : usual) EXPECT_TRUE(has(table, bytes)) << bytes;
}

TEST(Fit, AFewBlocksDoNotLetAllSizesBelowAMuchLargerClassWaste) {
  const BlockSizes table = fit(histogram_of({{1032, 1}, {4368, 10000}}), {});
  EXPECT_TRUE(has(table, 4416));
  for (std::uint32_t size = 1025; size <= 4416; ++size)
    ASSERT_LE(2 * *std::lower_bound(table.begin(), table.end(), size), 3 * size) << size;
}

TEST(Fit, KeepsToTheMostClasses) {
  const SizeHistogram histogram = histogram_of({{4360, 10000}, {1500, 7000}, {9000, 4000}, {30000, 2000}});
  for (unsigned most = fewest_classes(SmallClasses::kMayMerge); most < 20; ++most) {
    const BlockSizes table = fit(histogram, {.most_classes = most, .small_classes = SmallClasses::kMayMerge});
    EXPECT_LE(table.count(), most);
  }
  EXPECT_THROW(fit(histogram, {.most_classes = 3, .small_classes = SmallClasses::kMayMerge}), BadInput);
  EXPECT_THROW(fit(histogram, {.most_classes = 67}), BadInput);
  EXPECT_NO_THROW(fit(histogram, {.most_classes = 68}));
}

TEST(Fit, HasAtMost64ClassesFinerThanBins) {
  SizeHistogram histogram;
  for (std::uint64_t size = 1088; size <= 16384; size += 64) histogram.add(size, 100000);
  EXPECT_EQ(fit(histogram, {}).medium_count(), 64u);
}

TEST(TextOfTable, BeginsWithItsCommentLineByLine) {
  EXPECT_EQ(text_of_table(default_table(), "one\ntwo").substr(0, 34),
            "# one\n# two\ntarn-classes 1\n8 16 32");
}

using Counts = std::map<std::uint64_t, std::uint64_t>;

std::string refusal_of(const std::string& text) {
  return test::error_of<BadInput>([&] { read_histogram(text); });
}

TEST(SizeHistogram, ReadsLinesWithCommentsAndAddsThoseOfOneSize) {
  EXPECT_EQ(read_histogram("# size count\n\n16 3\r\n\t4360   2 # pages\n16 4").counts(),
            (Counts{{16, 7}, {4360, 2}}));
}

TEST(SizeHistogram, ReadsJson) {
  EXPECT_EQ(read_histogram(R"( {"program": "x", "live_sizes":
      [{"size": 16, "count": 3}, {"size": 24, "count": 1, "calls": 9}]})")
                .counts(),
            (Counts{{16, 3}, {24, 1}}));
}

TEST(SizeHistogram, ABlockOfNoBytesCountsAsOneOfOne) {
  EXPECT_EQ(read_histogram("0 5\n").counts(), (Counts{{1, 5}}));
}

TEST(SizeHistogram, SaysWhichLineIsNone) {
  EXPECT_EQ(refusal_of("16 3\n17\n"), "line 2 is not 'size count', two numbers");
  EXPECT_EQ(refusal_of("16 3 4"), "line 1 is not 'size count', two numbers");
  EXPECT_EQ(refusal_of("-16 3"), "line 1 is not 'size count', two numbers");
  EXPECT_EQ(refusal_of("16 3x"), "line 1 is not 'size count', two numbers");
  EXPECT_EQ(refusal_of("99999999999999999999 1"), "line 1 is not 'size count', two numbers");
}

TEST(SizeHistogram, SaysWhatIsWrongWithJson) {
  EXPECT_EQ(refusal_of("{"), "is no JSON");
  EXPECT_EQ(refusal_of("{}"), "is JSON without a list \"live_sizes\"");
  EXPECT_EQ(refusal_of(R"({"live_sizes": {}})"), "is JSON without a list \"live_sizes\"");
  EXPECT_EQ(refusal_of(R"({"live_sizes": [16]})"), "an entry of \"live_sizes\" has no number \"size\"");
  EXPECT_EQ(refusal_of(R"({"live_sizes": [{"size": 16, "count": -1}]})"),
            "an entry of \"live_sizes\" has no number \"count\"");
}

TEST(SizeHistogram, WithoutABlockThereIsNothingToFit) {
  EXPECT_EQ(refusal_of(""), "has no block");
  EXPECT_EQ(refusal_of("16 0\n"), "has no block");
}

TEST(SizeHistogram, MoreThanAnyMachineHoldsIsRefusedBeforeSumsOverflow) {
  EXPECT_EQ(refusal_of("1125899906842624 1"), "");
  for (const char* text :
       {"1125899906842624 2", "18446744073709551615 18446744073709551615", "1125899906842624 1\n1 1"})
    EXPECT_EQ(refusal_of(text), "has blocks of more than 1 PiB together, which no program holds") << text;
}

}  // namespace
}  // namespace tarn::tune
