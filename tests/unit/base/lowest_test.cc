#include "base/lowest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace tarn::internal {
namespace {

TEST(KeepLowest, KeepsTheLowestInWhicheverOrderTheyCome) {
  std::vector<int> all = {3, 1, 4, 2, 5, 0};
  std::sort(all.begin(), all.end());
  do {
    int kept[3] = {};
    std::uint32_t count = 0;
    for (const int one : all) keep_lowest(kept, count, 3, one);
    std::sort_heap(kept, kept + count);
    ASSERT_EQ(std::vector<int>(kept, kept + count), (std::vector<int>{0, 1, 2}));
  } while (std::next_permutation(all.begin(), all.end()));
}

TEST(KeepLowest, HasFewerWhereFewerCame) {
  int kept[3] = {};
  std::uint32_t count = 0;
  keep_lowest(kept, count, 3, 7, std::greater<int>());
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(kept[0], 7);
}

}  // namespace
}  // namespace tarn::internal
