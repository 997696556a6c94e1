#include "os/memory/growth_watch.h"

#include <gtest/gtest.h>

#include "os/memory/memory.h"
#include "os/process/process.h"

namespace tarn::internal::os {
namespace {

constinit const char* told = nullptr;

class GrowthWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    told = nullptr;
    growth_watcher = [](const char* what) { told = what; };
  }
  void TearDown() override { growth_watcher = nullptr; }
};

TEST_F(GrowthWatch, IsToldWhatWasTakenFromTheSystem) {
  void* const memory = map(page_bytes());
  EXPECT_STREQ(told, "memory mapped");
  release(memory, page_bytes());
}

TEST_F(GrowthWatch, IsNotToldWhenMemoryGoesBack) {
  growth_watcher = nullptr;
  void* const memory = map(page_bytes());
  SetUp();
  EXPECT_TRUE(purge(memory, page_bytes()));
  release(memory, page_bytes());
  EXPECT_EQ(told, nullptr);
}

TEST_F(GrowthWatch, IsToldNothingWhenThereIsNone) {
  growth_watcher = nullptr;
  tell_growth("anything");
  EXPECT_EQ(told, nullptr);
}

}  // namespace
}  // namespace tarn::internal::os
