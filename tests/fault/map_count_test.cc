// A process whose map is full (vm.max_map_count): the heap grows where it is, since what is committed joins
// the area before it. Preloaded it tests ours; alone, as the control, the system's.
#include "concurrency/pool_memory.h"
#include "support/child.h"
#include "support/content.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

constexpr std::size_t kLargestLimitToReach = 200000;

std::size_t most_areas() {
  std::size_t count = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> count;
  return count;
}

std::size_t count_areas() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

/// Neighbours of unlike access do not join. The kernel grants one area more than the limit, which then
/// refuses even an area that would grow: that one goes back.
void use_up_all_areas() {
  void* last = nullptr;
  for (std::size_t i = 0;; ++i) {
    void* const area =
        mmap(nullptr, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) break;
    last = area;
  }
  munmap(last, 4096);
}

void grow_with_the_map_full(std::size_t before, std::size_t count, bool has_table = false) {
  if (most_areas() > kLargestLimitToReach) GTEST_SKIP() << "too many areas to use up";
  const ChildResult result = run_in_child([&] {
    std::vector<void*> blocks(std::max(before, count));
    // What a child of fork commits first does not join what its parent had.
    for (std::size_t i = 0; i < before; ++i) fill(blocks[i] = Pool::allocate(1000), 1000, i);
    if (has_table) {
      for (std::size_t i = 0; i < before; ++i) Pool::deallocate(blocks[i]);
      trim_pool();
      if (Pool::allocate_zeroed(before, 1500) == nullptr) return 3;
      before = 0;
    }
    use_up_all_areas();
    for (std::size_t i = before; i < count; ++i) {
      if ((blocks[i] = Pool::allocate(1000)) == nullptr) return 1;
      fill(blocks[i], 1000, i);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!holds(blocks[i], 1000, i)) return 2;
      Pool::deallocate(blocks[i]);
    }
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// All within a region, also where the first ones are small: another one would be an area.
TEST(MapCount, UsedUpLeavesBlocksForAHeapThatGrows) { grow_with_the_map_full(10000, 14000); }
TEST(MapCount, UsedUpLeavesBlocksForALargerHeapThatGrows) { grow_with_the_map_full(18000, 28000); }
// Its pages are no huge ones, though the addresses had some.
TEST(MapCount, UsedUpLeavesBlocksBehindATableOfZeroes) { grow_with_the_map_full(10000, 8000, true); }

TEST(MapCount, StaysSmallHoweverThinlyALargeHeapIsUsed) {
  const ChildResult result = run_in_child([] {
    static char* blocks[8192];
    const std::size_t before = count_areas();
    for (char*& block : blocks) {
      block = static_cast<char*>(Pool::allocate(100 * kKiB));
      block[0] = 1;
    }
    for (std::size_t i = 0; i < 8192; i += 3) Pool::deallocate(blocks[i]);
    for (std::size_t i = 0; i < 8192; i += 3) blocks[i] = static_cast<char*>(Pool::allocate(90 * kKiB));
    return count_areas() < before + 100 ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace
}  // namespace tarn::test
