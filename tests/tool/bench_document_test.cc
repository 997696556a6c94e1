// The way of a run to JSON and back.
#include "bench/bench_document.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench_samples.h"
#include "system/usage_error.h"

namespace tarn::tool {
namespace {

TEST(BenchDocument, JsonReadBackIsTheSame) {
  BenchDocument document = sample_document();
  document.results.failures.push_back(
      {"boost-pool", "002_fixed", {"ended by SIGSEGV", "round 2", {"oh", "no"}}});
  const std::string text = text_of(document);
  const Json json = Json::parse(text);
  EXPECT_EQ(json, to_json(document));
  EXPECT_EQ(text_of(document_from(json, "r.json")), text);
}

TEST(BenchDocument, FiguresOfFewerRoundsThanFiveAreNamed) {
  BenchDocument document = sample_document();
  EXPECT_TRUE(to_json(document)["few_rounds"].empty());
  for (Json& run : document.results.groups[0].rows[1].runs[1]) run["rounds"] = 4;
  EXPECT_EQ(to_json(document)["few_rounds"], Json::array({"002_fixed 64, glibc: 4"}));
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
