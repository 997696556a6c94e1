#include "taken/live_looks.h"

#include <gtest/gtest.h>

namespace tarn::tool {
namespace {

TEST(LiveLooks, BytesAreAddedUpByStackAndTheRestIsOlder) {
  observer::Sampling sampling;
  sampling.live = {{1, 100, 7, 1}, {2, 50, 7, 1}, {3, 300, 9, 1}};
  const profile::LiveLook look = live_look(sampling, 1'000, 2.5);
  EXPECT_EQ(look.seconds, 2.5);
  EXPECT_EQ(look.older_bytes, 550);
  EXPECT_EQ(look.bytes, (std::vector<std::pair<std::uint64_t, double>>{{9, 300}, {7, 150}}));
}

TEST(LiveLooks, OfManyStacksTheGreatestAreToldApart) {
  observer::Sampling sampling;
  for (std::uint64_t stack = 1; stack <= LiveLooks::kMostStacks + 2; ++stack)
    sampling.live.push_back({stack, stack, stack, 1});
  const profile::LiveLook look = live_look(sampling, 0, 0);
  EXPECT_EQ(look.bytes.size(), LiveLooks::kMostStacks);
  EXPECT_EQ(look.other_bytes, 3);
}

TEST(LiveLooks, ForgedFiguresHaveABound) {
  observer::Sampling sampling;
  sampling.live = {{1, ~std::uint64_t{0}, 7, ~std::uint64_t{0}}};
  const profile::LiveLook look = live_look(sampling, 1e30, 0);
  EXPECT_LE(look.bytes[0].second, 1e16);
  EXPECT_LE(look.older_bytes, 1e16);
}

TEST(LiveLooks, TheyAreNeverMoreThanTheMostAndBeginAtTheStart) {
  LiveLooks looks;
  for (int i = 0; i < 1'000; ++i) looks.add({static_cast<double>(i), 0, 0, {}});
  const auto all = looks.end();
  EXPECT_LE(all.size(), LiveLooks::kMost);
  EXPECT_GT(all.size(), LiveLooks::kMost / 4);
  EXPECT_EQ(all.front().seconds, 0);
}

}  // namespace
}  // namespace tarn::tool
