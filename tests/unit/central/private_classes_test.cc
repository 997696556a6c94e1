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

TEST(AllClasses, AreThoseOfBinsAndOfPoolsAndNoneBetween) {
  end_of_classes = detail::kFirstPoolClass + 2;
  std::set<unsigned> seen;
  for (const SizeClass size_class : all_classes()) seen.insert(index_of_class(size_class));
  EXPECT_EQ(seen.size(), kBinCount - 1 + 2);
  EXPECT_TRUE(seen.contains(kBinCount - 1) && seen.contains(detail::kFirstPoolClass + 1));
  EXPECT_FALSE(seen.contains(kBinCount));
}

}  // namespace
}  // namespace tarn::internal
