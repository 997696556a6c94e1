#include "system/files/environment.h"

#include <gtest/gtest.h>

namespace tarn::tool {
namespace {

using Entries = std::vector<std::string>;

TEST(Environment, SettingReplacesAndRemovingForgets) {
  Environment environment(Entries{"A=1", "B=2"});
  environment.set("A", "3");
  EXPECT_EQ(environment.get("A"), "3");
  environment.remove("B");
  EXPECT_EQ(environment.entries(), Entries{"A=3"});
}

TEST(Environment, ANameIsNotTheBeginningOfAnother) {
  const Environment environment(Entries{"PATHS=x"});
  EXPECT_EQ(environment.get("PATH"), "");
}

TEST(Environment, ALibraryIsPreloadedBeforeThoseOfTheUser) {
  Environment environment(Entries{"LD_PRELOAD=/a.so"});
  environment.preload("/tarn.so");
  EXPECT_EQ(environment.get("LD_PRELOAD"), "/tarn.so:/a.so");
}

}  // namespace
}  // namespace tarn::tool
