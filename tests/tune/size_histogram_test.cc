#include "tune/size_histogram.h"

#include <gtest/gtest.h>

namespace tarn::tune {
namespace {

using Counts = std::map<std::uint64_t, std::uint64_t>;

std::string refusal_of(const std::string& text) {
  try {
    read_histogram(text);
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "";
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
