#include "engine/rounds/load_metric.h"

#include <gtest/gtest.h>

#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

double value_in(const std::string& metric, const std::string& output) {
  const auto found = parse_load_metric(metric).value_in(output);
  return found ? found->value : -1;
}

std::string complaint_about(const std::string& metric) {
  try {
    parse_load_metric(metric);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(LoadMetric, IsANameAndAnExpressionThatMayHoldAnEqualsSign) {
  EXPECT_EQ(parse_load_metric("p99=p99=([0-9.]+)").name, "p99");
  EXPECT_EQ(value_in("p99=p99=([0-9.]+)", "SET: 1000 requests, p99=12.5\n"), 12.5);
}

TEST(LoadMetric, TheLastLineThatMatchesCounts) {
  EXPECT_EQ(value_in("rate=rate ([0-9]+)", "rate 1\nrate 2\nthe end\n"), 2);
  EXPECT_EQ(value_in("rate=^rate ([0-9]+)$", "rate 1\nrate 2 \n"), 1);
}

TEST(LoadMetric, AUnitIsReadInTheGroupOrRightBehindIt) {
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+ms)", "99%   1.20ms"), 0.00120);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   1.20ms"), 0.00120);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   950.00us"), 0.00095);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   950.00µs"), 0.00095);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   950.00\u03bcs"), 0.00095);
  EXPECT_DOUBLE_EQ(value_in("p99=99% +([0-9.]+)", "99%   2s"), 2);
  EXPECT_DOUBLE_EQ(value_in("rate=([0-9.]+)", "12.5k"), 12500);
  EXPECT_DOUBLE_EQ(value_in("rate=([0-9.]+M)", "3M/s"), 3e6);
  EXPECT_DOUBLE_EQ(value_in("count=([0-9.]+)", "7seconds"), 7) << "seconds is another word than s";
}

TEST(LoadMetric, AUnitOfTimeMakesATimeAndOneOfMemoryBytes) {
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5 KiB")->quantity, Quantity::kCount);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5MiB")->quantity, Quantity::kBytes);
  EXPECT_EQ(value_in("a=([0-9.]+)", "1.5KiB"), 1536);
  EXPECT_EQ(value_in("a=([0-9]+GiB)", "2GiB"), 2147483648.0);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5ms")->quantity, Quantity::kSeconds);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5k")->quantity, Quantity::kCount);
  EXPECT_EQ(parse_load_metric("a=([0-9]+)").value_in("5")->quantity, Quantity::kCount);
}

TEST(LoadMetric, WhatIsNoNumberIsNoValue) {
  EXPECT_FALSE(parse_load_metric("a=a (.*)").value_in("a fast one\n"));
  EXPECT_FALSE(parse_load_metric("a=a (.*)").value_in("a 5 and more\n"));
  EXPECT_FALSE(parse_load_metric("a=a|b([0-9])").value_in("a\n"));
  EXPECT_FALSE(parse_load_metric("a=([0-9]+)").value_in(""));
}

TEST(LoadMetric, ALineWithoutEndDoesNotExhaustTheStack) {
  EXPECT_EQ(value_in("a=([0-9]).*", "7" + std::string(10 << 20, 'x')), 7);
}

TEST(LoadMetric, WhatCannotBeReadIsRefusedInOneLine) {
  EXPECT_EQ(complaint_about("p99"), "--metric is NAME=REGEX, not \"p99\"");
  EXPECT_EQ(complaint_about("=([0-9]+)"), "--metric is NAME=REGEX, not \"=([0-9]+)\"");
  EXPECT_EQ(complaint_about("p99="), "--metric is NAME=REGEX, not \"p99=\"");
  EXPECT_TRUE(complaint_about("p99=([0-9]+").starts_with("--metric p99=([0-9]+: no regular expression: "));
  EXPECT_EQ(complaint_about("p99=[0-9]+"),
            "--metric p99=[0-9]+: has no group ( ) around the number, as in p99=99% +([0-9.]+)");
  for (const char* metric : {"p99=([0-9]+", "p99=*", "p99=[z-a]"})
    EXPECT_EQ(complaint_about(metric).find('\n'), std::string::npos) << metric;
}

TEST(LoadMetric, ACarriageReturnEndsALine) {
  const LoadMetric metric = parse_load_metric("set=^SET: ([0-9.]+) requests");
  EXPECT_EQ(metric.value_in("SET: rps=12.0\rSET: 345.5 requests per second\n")->value, 345.5);
}

TEST(LoadMetric, APlusBeforeTheNameSaysThatMoreIsBetter) {
  const LoadMetric metric = parse_load_metric("+rate=([0-9]+)");
  EXPECT_EQ(metric.name, "rate");
  EXPECT_TRUE(metric.is_more_better);
  EXPECT_FALSE(parse_load_metric("rate=([0-9]+)").is_more_better);
  EXPECT_THROW(parse_load_metric("+=([0-9]+)"), UsageError);
}

}  // namespace
}  // namespace tarn::tool
