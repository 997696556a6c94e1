// What follows from samples, and the way to JSON and back.
#include "bench/bench_document.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench_samples.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

bool is_other(ContenderKind kind) { return !is_ours(kind); }

TEST(BenchDocument, TheBestOfARowIsTheSmallestMedian) {
  const BenchDocument document = sample_document();
  const std::vector<RowEntry> entries = entries_of(document.results.groups[0].rows[0]);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[0].is_best);
  EXPECT_DOUBLE_EQ(entries[0].own.median, 10);
  EXPECT_DOUBLE_EQ(entries[0].ratio, 1);
  EXPECT_FALSE(entries[1].is_best);
  EXPECT_FALSE(entries[1].is_equal);
  EXPECT_DOUBLE_EQ(entries[1].ratio, 2);
}

TEST(BenchDocument, WhatDiffersByLessThanTheNoiseIsEqual) {
  const RowSamples samples =
      row_with("002_fixed", "4", 4,
               {{0, runs_of({10, 12, 8})}, {1, runs_of({11, 9, 13})}, {2, runs_of({14, 14, 14})}});
  const std::vector<RowEntry> entries = entries_of(samples);
  EXPECT_TRUE(entries[0].is_best);
  EXPECT_TRUE(entries[1].is_equal);
  EXPECT_FALSE(entries[2].is_equal);
}

TEST(BenchDocument, AFigureThatAContenderDoesNotHaveIsLeftOut) {
  RowSamples samples = row_with("002_fixed", "4", 4, {{0, runs_of({10})}, {1, runs_of({20})}});
  samples.runs[0][0]["p99_ns"] = 5;
  const std::vector<RowEntry> entries = entries_of(samples, "p99_ns");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].contender, 0u);
}

TEST(BenchDocument, TheGeometricMeanOfRatiosIsThatOfTheirLogarithms) {
  EXPECT_DOUBLE_EQ(*geometric_mean({1, 4}), 2);
  EXPECT_DOUBLE_EQ(*geometric_mean({2, 2, 2}), 2);
  EXPECT_FALSE(geometric_mean({}).has_value());
}

TEST(BenchDocument, RatiosOfAGroupAreThoseOfItsRows) {
  const BenchDocument document = sample_document();
  EXPECT_EQ(ratios_in(document.results.groups[0], 0), (std::vector<double>{1, 2}));
  EXPECT_EQ(ratios_in(document.results.groups[0], 1), (std::vector<double>{2, 1}));
  EXPECT_EQ(ratios_in(document.results.groups[0], 1, kPeakMemory), (std::vector<double>{2, 2}));
  EXPECT_TRUE(ratios_in(document.results.groups[1], 0).empty());
}

TEST(BenchDocument, StandingIsTheBestOthersTimeOverOnesOwn) {
  const BenchDocument document = sample_document();
  const auto standing = standing_of(document, 0, groups_of_source(document, "002"), is_other);
  ASSERT_TRUE(standing.has_value());
  EXPECT_DOUBLE_EQ(standing->mean, 1);
  EXPECT_DOUBLE_EQ(standing->worst, 0.5);
  EXPECT_EQ(standing->worst_row, "002_fixed 64");
  EXPECT_EQ(standing->row_count, 2u);
  EXPECT_FALSE(standing_of(document, 0, groups_of_source(document, "003"), is_other).has_value());
}

TEST(BenchDocument, JsonReadBackIsTheSame) {
  BenchDocument document = sample_document();
  document.results.failures.push_back(
      {"boost-pool", "002_fixed", {"ended by SIGSEGV", "round 2", {"oh", "no"}}});
  const std::string text = text_of(document);
  const Json json = Json::parse(text);
  EXPECT_EQ(json, to_json(document));
  EXPECT_EQ(text_of(document_from(json, "r.json")), text);
}

TEST(BenchDocument, TheTextHasALinePerContenderAndRow) {
  const std::string text = text_of(sample_document());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n') > 20, true);
  EXPECT_NE(text.find("\n   {\"name\":\"tarn\",\"summary\":{\"ns\":{\"median\":10.0,"), std::string::npos);
}

TEST(BenchDocument, OtherJsonIsRefusedWithItsReason) {
  EXPECT_THROW(document_from(Json::object(), "x.json"), UsageError);
  Json json = to_json(sample_document());
  json["machine"].erase("cpu");
  EXPECT_THROW(document_from(json, "x.json"), UsageError);
  json = to_json(sample_document());
  json["groups"][0]["rows"][0]["allocators"][0]["name"] = "stranger";
  try {
    document_from(json, "x.json");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "x.json is no result of `tarn bench`: no allocator stranger");
  }
}

}  // namespace
}  // namespace tarn::tool
