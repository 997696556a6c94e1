#include <gtest/gtest.h>

#include "pool/object_pool_state.h"

namespace tarn::internal {
namespace {

int destroyed = 0;

constexpr detail::ObjectPoolType kType{24, 8, [](void*) noexcept { ++destroyed; }, false};

TEST(ObjectPoolOverClass, HasAClassOfItsOwn) {
  detail::RecordPlace first_place{}, second_place{};
  detail::ObjectPoolState* const first = detail::make_object_pool({}, kType, &first_place);
  detail::ObjectPoolState* const second = detail::make_object_pool({}, kType, &second_place);
  EXPECT_EQ(first->back_end, &kObjectPoolOverClass);
  EXPECT_NE(first_place, detail::RecordPlace::kNone);
  EXPECT_NE(first_place, second_place);
  detail::end_object_pool(first);
  detail::end_object_pool(second);
}

TEST(ObjectPoolOverClass, DestroysWhatIsLiveAtItsEnd) {
  detail::RecordPlace place{};
  detail::ObjectPoolState* const pool =
      detail::make_object_pool({.at_end = AtPoolEnd::kDestroy}, kType, &place);
  for (int i = 0; i < 100; ++i) static_cast<void>(detail::object_pool_allocate_slow(pool));
  EXPECT_EQ(detail::object_pool_live_count(pool), 100u);
  destroyed = 0;
  detail::end_object_pool(pool);
  EXPECT_EQ(destroyed, 100);
}

}  // namespace
}  // namespace tarn::internal
