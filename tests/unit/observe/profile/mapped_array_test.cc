#include "observe/profile/mapped_array.h"

#include <gtest/gtest.h>

namespace tarn::internal {
namespace {

os::Fault refuse_maps(os::Call call) {
  return call == os::Call::kMap ? os::Fault::kRefused : os::Fault::kNone;
}

TEST(MappedArray, KeepsItsElementsWhileItGrows) {
  MappedArray<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_TRUE(numbers.push(i));
  ASSERT_EQ(numbers.size(), 100'000u);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(numbers[i], i);
  EXPECT_LE(numbers.memory().start, address_of(numbers.begin()));
  EXPECT_GE(numbers.memory().end, address_of(numbers.end()));
}

TEST(MappedArray, IsUnchangedWhereMemoryIsRefused) {
  MappedArray<std::uint32_t> numbers;
  ASSERT_TRUE(numbers.push(7));
  os::set_fault_hook_for_test(refuse_maps);
  EXPECT_FALSE(numbers.reserve(1'000'000));
  EXPECT_FALSE(MappedArray<char>().push('x'));
  os::set_fault_hook_for_test(nullptr);
  EXPECT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0], 7u);
}

}  // namespace
}  // namespace tarn::internal
