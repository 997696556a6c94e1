#include "os/fatal.h"

#include <gtest/gtest.h>

#include <csignal>

#include "support/child.h"

namespace tarn::internal::os {
namespace {

int stop_with(const char* what, const void* address) { fatal(what, address); }

TEST(Fatal, WritesOneLineWithTheAddressAndAborts) {
  const test::ChildResult result =
      test::run_in_child([] { return stop_with("double free", reinterpret_cast<void*>(0x7f0012345678)); });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.error, "tarn: double free: 0x7f0012345678\n");
}

TEST(Fatal, WithoutAnAddressNamesOnlyWhatHappened) {
  const test::ChildResult result = test::run_in_child([] { return stop_with("something", nullptr); });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.error, "tarn: something\n");
}

TEST(Check, StopsWhenTheConditionIsFalse) {
  const test::ChildResult result = test::run_in_child([] {
    TARN_CHECK(1 + 1 == 2);
    TARN_CHECK(1 + 1 == 3);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.error, "tarn: internal check failed: 1 + 1 == 3\n");
}

}  // namespace
}  // namespace tarn::internal::os
