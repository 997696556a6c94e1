#include "central/private_classes.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace tarn::internal {
namespace {

constexpr SizeClass kFirst = class_of_index(detail::kFirstPoolClass);
constexpr SizeClass kLate = class_of_index(5 * PerClass<int>::kInBlock + 7);
constexpr SizeClass kLast = class_of_index(detail::kMostClasses - 1);

TEST(PerClass, ElementsOfBinsAndOfTheFirstPoolsAreThere) {
  const auto numbers = std::make_unique<PerClass<int>>();
  numbers->made(class_of_index(1)) = 1;
  numbers->made(kFirst) = 2;
  EXPECT_EQ(numbers->at(class_of_index(1)), 1);
  EXPECT_EQ(*numbers->find(kFirst), 2);
}

TEST(PerClass, LaterOnesAreZeroUntilTheyAreMade) {
  const auto numbers = std::make_unique<PerClass<int>>();
  EXPECT_EQ(numbers->at(kLate), 0);
  EXPECT_EQ(numbers->find(kLate), nullptr);
  int* const made = numbers->make(kLate);
  ASSERT_NE(made, nullptr);
  *made = 7;
  EXPECT_EQ(numbers->make(kLate), made);
  EXPECT_EQ(numbers->at(kLate), 7);
  EXPECT_EQ(numbers->find(kLast), nullptr) << "another block";
  ASSERT_NE(numbers->make(kLast), nullptr);
  EXPECT_EQ(numbers->made(kLast), 0);
}

TEST(PerClass, BeginsTheElementsOfABlock) {
  const auto numbers = std::make_unique<PerClass<int>>();
  numbers->begin_inside([](int& number) { number = 3; });
  EXPECT_EQ(numbers->at(kFirst), 3);
  EXPECT_EQ(*numbers->make(kLate, [](int& number) { number = 4; }), 4);
  EXPECT_EQ(numbers->at(class_of_index(index_of_class(kLate) + 1)), 4);
}

TEST(AllClasses, AreThoseOfBinsAndOfPoolsAndNoneBetween) {
  end_of_classes = detail::kFirstPoolClass + 2;
  std::set<unsigned> seen;
  for (const SizeClass size_class : all_classes()) seen.insert(index_of_class(size_class));
  EXPECT_EQ(seen.size(), kBinCount - 1 + 2);
  EXPECT_TRUE(seen.contains(kBinCount - 1) && seen.contains(detail::kFirstPoolClass + 1));
  EXPECT_FALSE(seen.contains(kBinCount));
}

TEST(PrivateClasses, RememberTheirPeak) {
  PrivateClass& of_pool = private_class(kFirst);
  of_pool.add_blocks(10);
  of_pool.subtract_blocks(4);
  of_pool.add_blocks(3);
  EXPECT_EQ(of_pool.block_count.load(), 9u);
  EXPECT_EQ(of_pool.peak_block_count.load(), 10u);
}

TEST(PrivateClasses, EndOneByOneAndBinsNever) {
  private_class(kFirst).is_ending = true;
  EXPECT_TRUE(is_ending(kFirst));
  EXPECT_FALSE(is_ending(class_of_index(1)));
}

}  // namespace
}  // namespace tarn::internal
