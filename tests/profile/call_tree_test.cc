#include "profile/call_tree.h"

#include <gtest/gtest.h>

#include "hand_made_profile.h"

namespace tarn::profile {
namespace {

TEST(CallTree, AParentHoldsItsChildren) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  const std::vector<CallNode> nodes = call_tree_of(profile, 100);
  ASSERT_EQ(nodes.size(), 7u);  // all, 0x201 and three below it, a pool, older memory
  EXPECT_EQ(nodes[0].live.bytes, 5656);
  EXPECT_EQ(nodes[1].name, "0x201");
  EXPECT_EQ(nodes[1].live.bytes, 4656);
  EXPECT_EQ(nodes[2].parent, 1u);
}

TEST(CallTree, TheSmallestAreLeftOutWhereThereAreTooMany) {
  std::vector<ProfileStack> stacks;
  for (std::uint64_t i = 1; i <= 1000; ++i)
    stacks.push_back(test::make_stack({0x10000 + i, 0x5}, 1, static_cast<double>(i)));
  const NamedProfile profile = test::named(stacks);
  const std::vector<CallNode> nodes = call_tree_of(profile, 100);
  EXPECT_EQ(nodes.size(), 100u);
  EXPECT_EQ(nodes[0].live.bytes, 1000 * 1001 / 2);
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_LT(nodes[i].parent, i);
}

TEST(CallTree, EqualCallsAreLeftOutFromTheEndAndNotAll) {
  std::vector<ProfileStack> stacks;
  for (std::uint64_t i = 1; i <= 50; ++i) stacks.push_back(test::make_stack({0x10000 + i, 0x100 + i}, 1, 10));
  const NamedProfile profile = test::named(stacks);
  const std::vector<CallNode> nodes = call_tree_of(profile, 60);
  EXPECT_EQ(nodes.size(), 60u);
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_GE(nodes[nodes[i].parent].live.bytes, 10);
}

}  // namespace
}  // namespace tarn::profile
