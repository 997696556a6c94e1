#include "os/process/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace tarn::internal::os {
namespace {

TEST(Processors, AreThoseThatTheProcessMayUse) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(processor_count(), static_cast<unsigned>(CPU_COUNT(&set)));
}

// Numbers from 0 on, whatever the kernel calls the processors.
TEST(Processors, HaveTheirNumberAmongThese) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::thread([&] {
    unsigned expected = 0;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &all)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(processor, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      EXPECT_EQ(this_processor(), expected++);
    }
  }).join();
}

}  // namespace
}  // namespace tarn::internal::os
