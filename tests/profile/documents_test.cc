// The documents of one profile: folded stacks, speedscope, JSON, the page and its tree of calls.
#include <gtest/gtest.h>

#include "hand_made_profile.h"
#include "profile/documents/call_tree.h"
#include "profile/documents/flame_page.h"
#include "profile/documents/folded.h"
#include "profile/documents/profile_json.h"
#include "profile/documents/speedscope.h"

namespace tarn::profile {
namespace {

HeapProfile make_hostile_profile() {
  HeapProfile profile = test::make_profile({test::make_stack({0x1}, 1, 64, "</script><img src=x>\033[2J")});
  profile.program = "<b>\"bad\"\xff";
  return profile;
}

TEST(Folded, StacksAreLinesFromTheOutermostIn) {
  EXPECT_EQ(folded_text(test::named(test::make_mixed_profile()), Measure::kLive),
            "0x201;0x101 4096\n"
            "0x201;0x102 512\n"
            "0x201;0x103;[fixed pool 3 \"packets:\"] 48\n"
            "[allocated before the profile was switched on] 1000\n");
}

TEST(Folded, AllocatedBytesHaveNothingOlder) {
  const std::string text = folded_text(test::named(test::make_mixed_profile()), Measure::kAllocated);
  EXPECT_NE(text.find("0x201;0x101 8192\n"), std::string::npos);
  EXPECT_EQ(text.find("before"), std::string::npos);
}

TEST(Speedscope, WeightsAddUpToTheEndOfEachProfile) {
  const Json json = speedscope_json(test::named(test::make_mixed_profile()));
  ASSERT_EQ(json["profiles"].size(), 2u);
  for (const Json& profile : json["profiles"]) {
    EXPECT_EQ(profile["samples"].size(), profile["weights"].size());
    std::int64_t sum = 0;
    for (const Json& weight : profile["weights"]) sum += weight.get<std::int64_t>();
    EXPECT_EQ(profile["endValue"], sum);
    for (const Json& sample : profile["samples"])
      for (const Json& frame : sample) EXPECT_LT(frame.get<std::size_t>(), json["shared"]["frames"].size());
  }
  const Json& first = json["profiles"][0]["samples"][0];
  EXPECT_EQ(json["shared"]["frames"][first[0].get<std::size_t>()]["name"], "0x201");
}

TEST(ProfileJson, TellsLiveBlocksBySizeInWholeNumbers) {
  HeapProfile profile = test::make_mixed_profile();
  profile.live_sizes = {{100, 4.2}, {4096, 1}};
  const Json json = profile_json(test::named(std::move(profile)));
  EXPECT_EQ(json["live_sizes"].dump(), R"([{"size":100,"count":4},{"size":4096,"count":1}])");
}

TEST(ProfileJson, HasAVersionAndEveryStack) {
  const Json json = Json::parse(text_of(profile_json(test::named(test::make_mixed_profile()))));
  EXPECT_EQ(json["format"], "tarn-heap-profile");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["live"]["bytes"], 4096 + 512 + 48 + 1000);
  ASSERT_EQ(json["stacks"].size(), 4u);
  EXPECT_EQ(json["stacks"][0]["frames"][0]["function"], "0x101");
  EXPECT_TRUE(json["stacks"][0]["pool"].is_null());
  EXPECT_EQ(json["stacks"][2]["pool"], "fixed pool 3 \"packets;\"");
  EXPECT_EQ(json["stacks"][3]["older"], true);
}

TEST(FlamePage, CarriesItsDataAndNothingFromOutside) {
  const std::string page = flame_page(test::named(test::make_mixed_profile()));
  EXPECT_EQ(page.find("@DATA@"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_NE(page.find("packets"), std::string::npos);
  EXPECT_NE(page.find("before the profile was switched on"), std::string::npos);
}

TEST(Documents, HostileNamesStayText) {
  const NamedProfile profile = test::named(make_hostile_profile());
  const std::string page = flame_page(profile);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  for (const std::string& text : {page, folded_text(profile, Measure::kLive),
                                  text_of(speedscope_json(profile)), text_of(profile_json(profile))})
    EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(Json::parse(text_of(profile_json(profile)))["program"], "<b>\"bad\"?");
}

TEST(Documents, AnEmptyProfileIsADocumentToo) {
  const NamedProfile profile = test::named(std::vector<ProfileStack>{});
  EXPECT_EQ(folded_text(profile, Measure::kLive), "");
  EXPECT_EQ(speedscope_json(profile)["profiles"][0]["endValue"], 0);
  EXPECT_NE(flame_page(profile).find("</html>"), std::string::npos);
}

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
