#include "profile/top_sites.h"

#include <gtest/gtest.h>

#include <sstream>

#include "hand_made_profile.h"
#include "observer/printable.h"

namespace tarn::profile {
namespace {

TEST(TopSites, AreSortedByBytes) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  const std::vector<Site> sites = sites_of(profile, Measure::kLive);
  ASSERT_EQ(sites.size(), 4u);
  EXPECT_EQ(sites[0].frame.function, "0x101");
  EXPECT_EQ(sites[3].pool, "fixed pool 3 \"packets;\"");
}

TEST(TopSites, StacksOfOneSiteAreAddedUp) {
  const NamedProfile profile =
      test::named({test::make_stack({0x1, 0x2}, 1, 10), test::make_stack({0x1, 0x3}, 2, 20)});
  const std::vector<Site> sites = sites_of(profile, Measure::kLive);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].amount.bytes, 30);
  EXPECT_EQ(sites[0].amount.blocks, 3);
}

TEST(TopSites, RowsAreAsWideAsTheTerminalAtMost) {
  HeapProfile raw = test::make_mixed_profile();
  raw.stacks[0].pool = std::string(200, 'p');
  raw.older_bytes = raw.older_blocks = 0;
  const NamedProfile profile = test::named(raw);
  for (const std::size_t columns : {80u, 100u, 140u}) {
    std::istringstream lines(top_sites_text(profile, Measure::kLive, 0, columns));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(observer::columns_of(line), columns) << line;
  }
}

TEST(TopSites, TheTableTellsSharesAndWhatIsLeftOut) {
  const std::string text = top_sites_text(test::named(test::make_mixed_profile()), Measure::kLive, 2, 80);
  EXPECT_NE(text.find("72.4 %  0x101"), std::string::npos) << text;
  EXPECT_NE(text.find("and 2 more sites"), std::string::npos) << text;
  EXPECT_NE(text.find("0.98 KiB in 10 blocks from before"), std::string::npos) << text;
}

}  // namespace
}  // namespace tarn::profile
