#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "general/system_blocks.h"
#include "pool/object_pool_state.h"
#include "tarn/memory_pool.h"
#include "tarn/pool_use.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

int destroyed = 0;

constexpr detail::ObjectPoolType kType{24, 8, [](void*) noexcept { ++destroyed; }, false};

detail::ObjectPoolState* make_pool(AtPoolEnd at_end = AtPoolEnd::kReport) {
  detail::RecordPlace place{1};
  detail::ObjectPoolState* const pool = detail::make_object_pool({.at_end = at_end}, kType, &place);
  EXPECT_EQ(place, detail::RecordPlace::kNone) << "every call is slow";
  EXPECT_EQ(pool->back_end, &kObjectPoolOverFixedPool);
  return pool;
}

std::vector<PoolUse> uses_of(const std::string& name) {
  struct Search {
    const std::string& name;
    std::vector<PoolUse> found;
  } search{name, {}};
  for_each_pool(
      [](const PoolUse& use, void* context) {
        Search& into = *static_cast<Search*>(context);
        if (into.name == use.name) into.found.push_back(use);
      },
      &search);
  return search.found;
}

void expect_one_entry(const char* name, std::size_t live) {
  const std::vector<PoolUse> uses = uses_of(name);
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_STREQ(uses[0].kind, "object pool");
  EXPECT_EQ(uses[0].block_bytes, 24u);
  EXPECT_EQ(uses[0].live_count, live);
  EXPECT_EQ(uses[0].live_bytes, live * 24);
  EXPECT_GE(uses[0].mapped_bytes, live * 24);
  EXPECT_GE(uses[0].capacity, live);
  EXPECT_FALSE(uses[0].is_in_classes);
}

detail::ObjectPoolState* make_listed_pool(const char* name) {
  detail::ObjectPoolType listed = kType;
  listed.live_objects = LiveObjects::kListed;
  detail::RecordPlace place{1};
  return detail::make_object_pool({.name = name, .at_end = AtPoolEnd::kHandOver}, listed, &place);
}

TEST(ObjectPoolOverFixedPool, TellsOfItselfOnceAlsoWhenObjectsOutliveIt) {
  detail::ObjectPoolState* const pool = make_listed_pool("guests");
  std::vector<void*> objects;
  for (int i = 0; i < 10; ++i) objects.push_back(detail::object_pool_allocate_slow(pool));
  expect_one_entry("guests", 10);
  detail::end_object_pool(pool);
  expect_one_entry("guests", 10);
  for (void* object : objects) tarn::deallocate(object);
  expect_one_entry("guests", 0);
}

TEST(ObjectPoolOverFixedPool, TellsNothingOnceItHasEndedWithoutObjects) {
  detail::ObjectPoolState* const pool = make_listed_pool("none");
  detail::object_pool_deallocate_slow(pool, detail::object_pool_allocate_slow(pool));
  expect_one_entry("none", 0);
  detail::end_object_pool(pool);
  EXPECT_TRUE(uses_of("none").empty());
}

using ObjectPoolOverMalloc = OverMalloc;

TEST_F(ObjectPoolOverMalloc, TellsOfItselfOnce) {
  detail::ObjectPoolState* const pool = make_pool();
  void* const block = detail::object_pool_allocate_slow(pool);
  expect_one_entry("object pool", 1);
  detail::object_pool_deallocate_slow(pool, block);
  detail::end_object_pool(pool);
}

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
