#include "profile/symbols/jit_names.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

namespace tarn::profile {
namespace {

JitNames names_of(std::string_view text) {
  const observer::InputFile file(memfd_create("names", 0));
  EXPECT_EQ(write(file.descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return JitNames(file);
}

TEST(JitNames, AnAddressHasTheNameOfTheCodeThatHoldsIt) {
  const JitNames names = names_of("1000 10 first\n1010 20 second of two\n");
  EXPECT_EQ(names.name_at(0x1000), "first");
  EXPECT_EQ(names.name_at(0x100f), "first");
  EXPECT_EQ(names.name_at(0x1010), "second of two");
  EXPECT_FALSE(names.name_at(0x1030).has_value());
  EXPECT_FALSE(names.name_at(0xfff).has_value());
}

TEST(JitNames, OfCodeThatWasMadeAgainTheLastNameCounts) {
  const JitNames names = names_of("1000 100 old\n1040 10 inner\n1000 20 new\n");
  EXPECT_EQ(names.name_at(0x1010), "new");
  EXPECT_EQ(names.name_at(0x1030), "old");
  EXPECT_EQ(names.name_at(0x1044), "inner");
}

TEST(JitNames, LinesThatAreNoneAreLeftOut) {
  const JitNames names =
      names_of("\nno\n1000\n1000 \n1000 10\n1000 10 \n-1 10 x\n2000 ffffffffffffffff last");
  EXPECT_FALSE(names.name_at(0x1000).has_value());
  EXPECT_EQ(names.name_at(0x2000), "last");
}

TEST(JitNames, NoFileNamesNothing) { EXPECT_FALSE(JitNames(observer::InputFile()).name_at(1).has_value()); }

}  // namespace
}  // namespace tarn::profile
