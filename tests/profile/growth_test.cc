#include "profile/growth.h"

#include <gtest/gtest.h>

#include "hand_made_profile.h"

namespace tarn::profile {
namespace {

using test::make_stack;

TEST(Growth, TheGreatestComesFirstAndShrinkageLast) {
  const NamedProfile before =
      test::named({make_stack({1}, 1, 100), make_stack({2}, 1, 500), make_stack({3}, 1, 7)});
  const NamedProfile after =
      test::named({make_stack({1}, 2, 200), make_stack({3}, 1, 7), make_stack({4}, 9, 900)});
  const std::vector<StackGrowth> growth = growth_between(before, after);
  ASSERT_EQ(growth.size(), 3u);
  EXPECT_EQ(growth[0].frames[0].function, "0x4");
  EXPECT_EQ(growth[0].bytes(), 900);
  EXPECT_EQ(growth[1].bytes(), 100);
  EXPECT_EQ(growth[2].bytes(), -500);
  const std::string text = growth_text(growth, 1, 80);
  EXPECT_NE(text.find("+500 B in all"), std::string::npos) << text;
  EXPECT_NE(text.find("-500 B"), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 more that grew"), std::string::npos) << text;
  EXPECT_EQ(growth_json(growth)["stacks"][2]["growth"]["bytes"], -500);
}

TEST(Growth, OneStackInTwoPoolsIsTwo) {
  const NamedProfile before = test::named({make_stack({1}, 1, 100, "heap 1")});
  const NamedProfile after = test::named({make_stack({1}, 1, 100, "heap 2")});
  EXPECT_EQ(growth_between(before, after).size(), 2u);
}

TEST(Growth, OfAProfileToItselfIsNothing) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  EXPECT_TRUE(growth_between(profile, profile).empty());
}

}  // namespace
}  // namespace tarn::profile
