// What a new kind of pool costs: one whose blocks have two sizes in turn. Everything but the promise is in
// the request: threads' magazines, counts, walks for tools, wiping, blocks of malloc's, misuse by name.
#include "general/options/setup.h"
#include "pool/blocks/block_pool_state.h"
#include "support/prelude.h"
#include "tarn/memory_pool.h"
#include "tarn/pool_use.h"
#include "unit/pool/over_malloc.h"

namespace tarn::internal {
namespace {

// -- The new kind, from here ------------------------------------------------------------------------------
constexpr PoolOperations kOperations = operations_of_blocks("turning pool");

struct TurningPoolOptions {
  const char* name = "turning pool";
  std::size_t bytes[2];
  bool sensitive = false;
};

/// Blocks of one size and of another, in turn; any thread frees them, by deallocate() or tarn::deallocate().
class TurningPool {
 public:
  explicit TurningPool(const TurningPoolOptions& options) {
    set_up_once();
    for (int i = 0; i < 2; ++i) {
      const auto source = source_of_blocks(BlockPoolState::Source::kRecords, options.sensitive);
      is_valid_ &= begin_block_pool(fronts_[i], states_[i],
                                    {.operations = kOperations,
                                     .name = options.name,
                                     .usual_name = "turning pool",
                                     .geometry = pool_geometry(options.bytes[i], 16),
                                     .alignment = 16,
                                     .source = source,
                                     .is_sensitive = options.sensitive});
    }
  }
  ~TurningPool() {
    for (BlockPoolState& state : states_) end_pool_of_blocks(state);
  }
  TurningPool(const TurningPool&) = delete;
  TurningPool& operator=(const TurningPool&) = delete;

  bool is_valid() const { return is_valid_; }
  void* allocate() {
    const unsigned turn = turn_.fetch_add(1, std::memory_order_relaxed) % 2;
    return detail::pool_allocate(fronts_[turn]);
  }
  void deallocate(void* block) { tarn::deallocate(block); }

 private:
  BlockPoolState states_[2]{};
  detail::SharedPoolFront fronts_[2]{};
  std::atomic<unsigned> turn_{0};
  bool is_valid_ = true;
};
// -- To here ----------------------------------------------------------------------------------------------

struct Uses {
  std::size_t pools = 0, live = 0;
};
Uses uses_of_turns() {
  Uses uses;
  const auto add = [](const PoolUse& use, void* context) {
    if (std::strcmp(use.name, "turns") != 0) return;
    EXPECT_STREQ(use.kind, "turning pool");
    ++static_cast<Uses*>(context)->pools;
    static_cast<Uses*>(context)->live += use.live_count;
  };
  for_each_pool(add, &uses);
  return uses;
}

TEST(NewKind, GivesBlocksOfTwoSizesInTurnAndIsCounted) {
  TurningPool pool({.name = "turns", .bytes = {48, 200}});
  ASSERT_TRUE(pool.is_valid());
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) {
    blocks.push_back(pool.allocate());
    ASSERT_EQ(tarn::usable_size(blocks.back()), i % 2 == 0 ? 48u : 200u);
  }
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  EXPECT_EQ(uses_of_turns().pools, 2u);
  EXPECT_EQ(uses_of_turns().live, 1000u);
  std::thread([&] {
    for (void* const block : blocks) pool.deallocate(block);
  }).join();
  EXPECT_EQ(uses_of_turns().live, 0u);
}

TEST(NewKind, ADoubleFreeIsNamed) {
  TurningPool pool({.name = "turns", .bytes = {48, 200}});
  void* const block = pool.allocate();
  pool.deallocate(block);
  EXPECT_DEATH(pool.deallocate(block), "double free in 'turns'");
}

TEST(NewKind, WipesItsBlocksWhenItIsToldTo) {
  TurningPool pool({.name = "turns", .bytes = {48, 200}, .sensitive = true});
  auto* const block = static_cast<char*>(pool.allocate());
  std::memset(block, 'x', 48);
  pool.deallocate(block);
  EXPECT_EQ(std::count(block, block + 48, 'x'), 0);
}

using NewKindOverMalloc = OverMalloc;

TEST_F(NewKindOverMalloc, HasItsBlocksFromMalloc) {
  TurningPool pool({.name = "turns", .bytes = {48, 200}});
  void* const blocks[2] = {pool.allocate(), pool.allocate()};
  EXPECT_EQ(uses_of_turns().live, 2u);
  for (void* const block : blocks) pool.deallocate(block);
  EXPECT_EQ(uses_of_turns().live, 0u);
}

}  // namespace
}  // namespace tarn::internal
