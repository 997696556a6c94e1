#include "os/checker.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/child.h"
#include "support/sanitizer.h"

namespace tarn::internal::os {
namespace {

alignas(64) char memory[128];

TEST(Checker, MarksMemoryThatNobodyMayTouch) {
  poison(memory, sizeof memory);
  const test::ChildResult result = test::run_in_child([] {
    char* volatile hidden = memory + 64;  // a compiler knows that this lies in the array, and checks nothing
    *hidden = 1;
    return 0;
  });
  EXPECT_EQ(result.is_success(), !test::kAddressSanitizer) << result.describe();
  unpoison(memory, sizeof memory);
  std::memset(memory, 0, sizeof memory);
}

TEST(Checker, ABlockOfAPoolMayBeTouchedWhileItIsLive) {
  begin_checked_pool(memory);
  poison(memory, sizeof memory);
  note_pool_allocation(memory, memory, 64);
  std::memset(memory, 1, 64);
  note_pool_free(memory, memory);
  end_checked_pool(memory);
  unpoison(memory, sizeof memory);
  std::memset(memory, 0, sizeof memory);
}

TEST(Checker, OutsideOfACheckerNothingChanges) {
  if (test::kAddressSanitizer) GTEST_SKIP() << "this is one";
  std::memset(memory, 7, sizeof memory);
  poison(memory, sizeof memory);
  note_pool_resize(memory, memory, 32);
  for (const char byte : memory) EXPECT_EQ(byte, 7);
}

}  // namespace
}  // namespace tarn::internal::os
