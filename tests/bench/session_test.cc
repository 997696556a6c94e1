// Rows: their names, and which of them a request chooses.
#include "session.h"

#include "support/prelude.h"

namespace tarn::bench {
namespace {

std::vector<std::size_t> values(const Axis& axis) { return {axis.begin(), axis.end()}; }

Axis axis_with(std::initializer_list<std::size_t> list) {
  Axis axis;
  for (const std::size_t value : list) axis.add(value);
  return axis;
}

TEST(Row, TheNameIsMadeOfWhatTellsItFromOthers) {
  EXPECT_STREQ(Row{}.name().text, "all");
  EXPECT_STREQ((Row{.bytes = 64}).name().text, "64");
  EXPECT_STREQ((Row{.series = series("pairs"), .bytes = 64, .threads = 16}).name().text,
               "pairs/64/threads/16");
  EXPECT_STREQ((Row{.series = series("%d nodes", 5), .temperature = Temperature::kCold}).name().text,
               "cold/5 nodes");
}

TEST(Session, WithoutAWishTheWorkloadsOwnAxesAreUsed) {
  const Request request;
  const Session session(request);
  EXPECT_EQ(values(session.sizes({1, 2, 3})), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(values(session.threads({1, 16})), (std::vector<std::size_t>{1, 16}));
}

TEST(Session, AWishReplacesAnAxisAndChoosesAmongKnownSizes) {
  Request request;
  request.sizes = axis_with({2, 5});
  request.threads = axis_with({3});
  const Session session(request);
  EXPECT_EQ(values(session.sizes({1, 2, 3})), (std::vector<std::size_t>{2, 5}));
  EXPECT_EQ(values(session.sizes_among({1, 2, 3})), (std::vector<std::size_t>{2}));
  EXPECT_EQ(values(session.threads({1, 16})), (std::vector<std::size_t>{3}));
}

TEST(Session, AQuickRunHasTheFirstAndTheMiddleOfALongAxis) {
  Request request;
  request.extent = Extent::kQuick;
  const Session session(request);
  EXPECT_EQ(values(session.sizes({1, 2, 3, 4, 5})), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(values(session.threads({1, 16})), (std::vector<std::size_t>{1, 16}));
}

TEST(Session, ColdRowsRunOnlyWhenTheyAreNamed) {
  Request request;
  Session session(request);
  session.enter("group");
  EXPECT_TRUE(session.wants({.bytes = 64}));
  EXPECT_FALSE(session.wants({.bytes = 64, .temperature = Temperature::kCold}));
  request.row = "cold/64";
  EXPECT_FALSE(session.wants({.bytes = 64}));
  EXPECT_TRUE(session.wants({.bytes = 64, .temperature = Temperature::kCold}));
}

TEST(Session, OnlyTheGroupAskedForRuns) {
  Request request;
  request.group = "001_512";
  Session session(request);
  EXPECT_FALSE(session.enter("001_%d", 1024));
  EXPECT_FALSE(session.wants({}));
  EXPECT_TRUE(session.enter("001_%d", 512));
  EXPECT_TRUE(session.wants({}));
}

TEST(Session, AReportedRowIsALineOfJson) {
  Request request;
  Session session(request);
  session.enter("group");
  ::testing::internal::CaptureStdout();
  session.report({.bytes = 64, .threads = 2}, 1.5, {10, 5}, extra_fields(",\"p99_ns\":%d", 7));
  const std::string line = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(
      line.find("{\"group\":\"group\",\"row\":\"64/threads/2\",\"ns\":1.500,\"operations\":10,\"rounds\":5,"),
      0u)
      << line;
  EXPECT_NE(line.find(",\"p99_ns\":7}\n"), std::string::npos) << line;
}

TEST(Session, ScaledCountsAreNeverNothing) {
  Request request;
  request.scale = 0.001;
  const Session session(request);
  EXPECT_EQ(session.scaled(5000), 5u);
  EXPECT_EQ(session.scaled(5), 1u);
}

}  // namespace
}  // namespace tarn::bench
