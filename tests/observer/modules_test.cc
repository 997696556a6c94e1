#include "observer/modules.h"

#include <gtest/gtest.h>

#include "fake_program.h"

namespace tarn::observer::test {
namespace {

TEST(Modules, JoinTheMappingsOfAFileAndWhatFollowsIt) {
  FakeProgram program;
  program.map(0x1000, 0x1000, "/bin/a");
  program.map(0x2000, 0x1000, "/bin/a");
  program.map(0x3000, 0x1000);  // .bss
  program.map(0x4000, 0x1000);  // another one's
  program.map(0x5000, 0x1000, "[heap]");
  program.map(0x7000, 0x1000, "/lib/b");
  const Modules modules(program.mappings());
  ASSERT_EQ(modules.all().size(), 2U);
  EXPECT_EQ(modules.all()[0].end, 0x4000U);
  EXPECT_EQ(modules.find(0x3fff)->path, "/bin/a");
  EXPECT_EQ(modules.find(0x4000), nullptr);
  EXPECT_EQ(modules.find(0x5000), nullptr);
  EXPECT_EQ(modules.find(0x7000)->path, "/lib/b");
  EXPECT_EQ(modules.find(0x8000), nullptr);
  EXPECT_EQ(modules.find(0), nullptr);
}

}  // namespace
}  // namespace tarn::observer::test
