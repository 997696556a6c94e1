#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sanitizer.h"
#include "tarn/memory_pool.h"
#include "tarn/steady_state.h"

namespace tarn::test {
namespace {

TEST(Prewarm, WhatIsAllocatedNextIsThereAlready) {
  ASSERT_GE(prewarm(32 << 20), std::size_t{32} << 20);
  SteadyState guard(AtGrowth::kCount);
  void* const block = allocate(16 << 20);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(guard.growth_count(), 0u);
  deallocate(block);
  EXPECT_GE(trim(), std::size_t{32} << 20);
}

}  // namespace
}  // namespace tarn::test
