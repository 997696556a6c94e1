#include <gtest/gtest.h>

#include <vector>

#include "general/system_blocks.h"
#include "pool/object_pool_state.h"
#include "tarn/memory_pool.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

int destroyed = 0;

constexpr detail::ObjectPoolType kType{24, 8, [](void*) noexcept { ++destroyed; }, false};

detail::ObjectPoolState* make_pool(AtPoolEnd at_end = AtPoolEnd::kReport) {
  std::uint32_t offset = 1;
  detail::ObjectPoolState* const pool = detail::make_object_pool({.at_end = at_end}, kType, &offset);
  EXPECT_EQ(offset, 0u) << "every call is slow";
  EXPECT_EQ(pool->back_end, &kObjectPoolOverFixedPool);
  return pool;
}

TEST(ObjectPoolOverFixedPool, TakesThePlaceOfAClassWhenThereAreTooManyPools) {
  std::vector<detail::ObjectPoolState*> pools;
  std::uint32_t offset = 1;
  while (offset != 0) pools.push_back(detail::make_object_pool({}, kType, &offset));
  detail::ObjectPoolState* const last = pools.back();
  EXPECT_EQ(last->back_end, &kObjectPoolOverFixedPool);
  void* const block = detail::object_pool_allocate_slow(last);
  EXPECT_EQ(detail::object_pool_live_count(last), 1u);
  tarn::deallocate(block);
  EXPECT_EQ(detail::object_pool_live_count(last), 0u);
  for (detail::ObjectPoolState* pool : pools) detail::end_object_pool(pool);
}

using ObjectPoolOverMalloc = OverMalloc;

TEST_F(ObjectPoolOverMalloc, DestroysWhatIsLiveAtItsEndBeforeItsMemoryGoes) {
  detail::ObjectPoolState* const pool = make_pool(AtPoolEnd::kDestroy);
  for (int i = 0; i < 100; ++i) static_cast<void>(detail::object_pool_allocate_slow(pool));
  destroyed = 0;
  detail::end_object_pool(pool);
  EXPECT_EQ(destroyed, 100);
}

TEST_F(ObjectPoolOverMalloc, WhatIsHandedOverStaysUntilItIsFreed) {
  detail::ObjectPoolState* const pool = make_pool(AtPoolEnd::kHandOver);
  void* const block = detail::object_pool_allocate_slow(pool);
  detail::end_object_pool(pool);
  EXPECT_NE(system_blocks.pool_of(block), nullptr);
  tarn::deallocate(block);
  EXPECT_EQ(system_blocks.pool_of(block), nullptr);
}

}  // namespace
}  // namespace tarn::internal
