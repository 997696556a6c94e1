#include "central/slabs/return_blocks.h"

#include <algorithm>
#include <csignal>
#include <random>

#include "central/slabs/remote_free.h"
#include "support/child.h"
#include "unit/central/owner_fixture.h"

namespace tarn::internal {
namespace {

class ReturnBlocks : public OwnerFixture {
 protected:
  using Order = void (*)(std::vector<void*>&);

  /// Takes blocks of several slabs and returns them in an order; all of them are free then.
  void return_in_order(Order order) {
    for (const unsigned index : {1u, 3u, 10u, 64u, 100u}) {
      const SizeClass size_class = class_of_index(index);
      std::vector<void*> blocks = take(owner, 3000, size_class);
      order(blocks);
      give_back(owner, blocks);
      EXPECT_EQ(owner.taken_bytes, 0u) << index;
      check(owner);
    }
  }
};

TEST_F(ReturnBlocks, InTheOrderTheyWereTaken) {
  return_in_order([](std::vector<void*>&) {});
}
TEST_F(ReturnBlocks, InTheOppositeOrder) {
  return_in_order([](std::vector<void*>& blocks) { std::reverse(blocks.begin(), blocks.end()); });
}
TEST_F(ReturnBlocks, InAnyOrder) {
  return_in_order([](std::vector<void*>& blocks) {
    std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));  // NOLINT: the same each time
  });
}
TEST_F(ReturnBlocks, EveryOtherFirst) {
  return_in_order([](std::vector<void*>& blocks) {
    std::vector<void*> sorted;
    for (std::size_t first : {0u, 1u})
      for (std::size_t i = first; i < blocks.size(); i += 2) sorted.push_back(blocks[i]);
    blocks = sorted;
  });
}

TEST_F(ReturnBlocks, OwnAndOthersMixed) {
  const std::vector<void*> own = take(owner, 500), others = take(other, 500);
  std::vector<void*> mixed;
  for (std::size_t i = 0; i < own.size(); ++i) mixed.push_back(own[i]), mixed.push_back(others[i]);
  give_back(owner, mixed);
  EXPECT_EQ(owner.taken_bytes, 0u);
  EXPECT_GT(other.taken_bytes, 0u) << "until it collects";
  ReturnedPages returned;
  os::LockGuard guard(other.mutex);
  collect_all_announced_locked(other, returned);
  EXPECT_EQ(other.taken_bytes, 0u);
  EXPECT_GT(other.counters.remote_batches, 0u);
}

TEST_F(ReturnBlocks, StopsAfterSoManyWords) {
  std::vector<void*> blocks = take(owner, 2000);
  ReturnedPages returned;
  os::LockGuard guard(owner.mutex);
  const unsigned gone = return_some_blocks(&owner, blocks.data(), 2000, 4, returned);
  EXPECT_GT(gone, 0u);
  EXPECT_LE(gone, 4 * 64u);
  return_blocks(&owner, blocks.data() + gone, 2000 - gone, returned);
  EXPECT_EQ(owner.taken_bytes, 0u);
}

TEST_F(ReturnBlocks, TheSameBlockTwiceStopsTheProcess) {
  const std::vector<void*> blocks = take(owner, 3);
  const test::ChildResult result = test::run_in_child([&] {
    give_back(owner, {blocks[0], blocks[1], blocks[0]});
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.error.rfind("tarn: double free", 0), 0u) << result.error;
}

}  // namespace
}  // namespace tarn::internal
