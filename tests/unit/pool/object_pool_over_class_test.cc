#include <gtest/gtest.h>

#include "pool/object_pool_state.h"

namespace tarn::internal {
namespace {

int destroyed = 0;

constexpr detail::ObjectPoolType kType{24, 8, [](void*) noexcept { ++destroyed; }, false};

TEST(ObjectPoolOverClass, HasAClassOfItsOwn) {
  std::uint32_t first_offset = 0, second_offset = 0;
  detail::ObjectPoolState* const first = detail::make_object_pool({}, kType, &first_offset);
  detail::ObjectPoolState* const second = detail::make_object_pool({}, kType, &second_offset);
  EXPECT_EQ(first->back_end, &kObjectPoolOverClass);
  EXPECT_NE(first_offset, 0u);
  EXPECT_NE(first_offset, second_offset);
  detail::end_object_pool(first);
  detail::end_object_pool(second);
}

TEST(ObjectPoolOverClass, DestroysWhatIsLiveAtItsEnd) {
  std::uint32_t offset = 0;
  detail::ObjectPoolState* const pool =
      detail::make_object_pool({.at_end = AtPoolEnd::kDestroy}, kType, &offset);
  for (int i = 0; i < 100; ++i) static_cast<void>(detail::object_pool_allocate_slow(pool));
  EXPECT_EQ(detail::object_pool_live_count(pool), 100u);
  destroyed = 0;
  detail::end_object_pool(pool);
  EXPECT_EQ(destroyed, 100);
}

}  // namespace
}  // namespace tarn::internal
