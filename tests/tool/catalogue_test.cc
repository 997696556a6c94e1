// The catalogue of sources and groups.
#include "bench/catalogue.h"

#include <gtest/gtest.h>

#include <set>

namespace tarn::tool {
namespace {

TEST(Catalogue, EveryGroupHasASourceOfItsOwnNumber) {
  for (const GroupInfo& group : bench_groups()) {
    EXPECT_STREQ(source_of(group).id, group.source);
    const std::string number = std::string(group.name).substr(0, 3);
    EXPECT_EQ(std::string(group.source).substr(0, 3), std::isdigit(number[0]) ? number : "our") << group.name;
  }
}

TEST(Catalogue, NamesAreDistinct) {
  std::set<std::string> names;
  for (const GroupInfo& group : bench_groups()) EXPECT_TRUE(names.insert(group.name).second) << group.name;
}

TEST(Catalogue, AGroupWithAMaximumIsFoundByAnyMaximum) {
  ASSERT_NE(find_group("001_8192"), nullptr);
  EXPECT_EQ(find_group("001_8192"), find_group("001_77"));
  EXPECT_EQ(title_of(*find_group("001_8192"), "001_8192"), "Random sizes up to 8192 bytes");
}

TEST(Catalogue, OtherGroupsAreFoundByTheirWholeName) {
  EXPECT_EQ(find_group("server"), find_group("server"));
  EXPECT_EQ(find_group("serve"), nullptr);
  EXPECT_EQ(find_group("servers"), nullptr);
  EXPECT_EQ(title_of(*find_group("server"), "server"), "A server in small");
}

}  // namespace
}  // namespace tarn::tool
