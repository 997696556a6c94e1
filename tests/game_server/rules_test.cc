// The rules from a file: what it may say, and how it is refused.
#include "server/rules.h"

#include "support/prelude.h"

namespace game {
namespace {

class RulesTest : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    const std::string name = testing::TempDir() + "rules_test_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
    std::ofstream(name) << text;
    return name;
  }
  std::string fault(const std::string& text) {
    try {
      read_rules(file(text), {});
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(RulesTest, WhatTheFileDoesNotNameStays) {
  const Rules before = {.room_members = 7, .creatures = 8, .room_budget_kib = 900, .match_ticks = 10};
  const Rules rules = read_rules(file(R"({"creatures": 3, "match_ticks": 0})"), before);
  EXPECT_EQ(rules, (Rules{.room_members = 7, .creatures = 3, .room_budget_kib = 900, .match_ticks = 0}));
}

TEST_F(RulesTest, FaultsAreNamed) {
  EXPECT_NE(fault("creatures: 3").find("is no JSON object"), std::string::npos);
  EXPECT_NE(fault("[1]").find("is no JSON object"), std::string::npos);
  EXPECT_NE(fault("").find("is no JSON object"), std::string::npos);
  EXPECT_NE(fault(R"({"dragons": 1})").find("there is no rule 'dragons'"), std::string::npos);
  EXPECT_NE(fault(R"({"creatures": -1})").find("creatures is no number from 0 to 10000"), std::string::npos);
  EXPECT_NE(fault(R"({"room_members": "many"})").find("room_members is no number"), std::string::npos);
  EXPECT_NE(fault(R"({"room_budget_kib": 1})").find("room_budget_kib is no number from 16"),
            std::string::npos);
  EXPECT_THROW(read_rules("/nonexistent/rules.json", {}), std::runtime_error);
}

}  // namespace
}  // namespace game
