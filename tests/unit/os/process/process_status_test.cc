#include "os/process/process_status.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/process_memory.h"
#include "support/sanitizer.h"

namespace tarn::internal::os {
namespace {

TEST(ProcessStatus, CountsTheAddressesOfTheProcess) {
  EXPECT_NEAR(static_cast<double>(address_bytes()), static_cast<double>(test::address_bytes()), 1e6);
}

TEST(ProcessStatus, CountsItsThreads) {
  const std::size_t before = thread_count();
  std::size_t in_thread = 0;
  std::thread([&] { in_thread = thread_count(); }).join();
  EXPECT_GE(before, 1u);
  if (test::kThreadSanitizer) {
    EXPECT_GT(in_thread, before);  // it starts a thread of its own with the program's first
  } else {
    EXPECT_EQ(in_thread, before + 1);
  }
}

}  // namespace
}  // namespace tarn::internal::os
