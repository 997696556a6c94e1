// The work of a fixed pool does not depend on how many blocks it has: counts the instructions of its
// operations in a small and in a large pool, and fails when the large one needs notably more.
#include <cstdio>
#include <vector>

#include "golden/instruction_count.h"
#include "tarn/fixed_pool.h"

namespace {

using tarn::FixedPool;

constexpr std::size_t kSmallCount = 1000, kLargeCount = 1000000;
constexpr long kMostMore = 64;  // instructions: another chunk's words may be where there was none

/// A pool of which every other block is live, and the rest in runs of up to 16 free ones near its end.
FixedPool* make_pool(std::size_t count, std::vector<void*>& live) {
  auto* const pool = new FixedPool({.block_bytes = 64, .blocks_per_chunk = 1000, .largest_count = count});
  std::vector<void*> blocks(count);
  static_cast<void>(pool->allocate_batch(count, blocks.data()));
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_in_run = i + 200 >= count && i % 32 < 16;
    i % 2 == 0 || is_in_run ? pool->deallocate(blocks[i]) : live.push_back(blocks[i]);
  }
  return pool;
}

FixedPool* pool;
std::vector<void*> live_blocks;
std::size_t next;

void allocate() { static_cast<void>(pool->allocate()); }
void deallocate() { pool->deallocate(live_blocks[next += 7]); }
void allocate_run() { pool->deallocate_run(pool->allocate_run(2), 2); }
void allocate_long_run() { pool->deallocate_run(pool->allocate_run(16), 16); }
void refuse_run() { static_cast<void>(pool->allocate_run(500)); }

constexpr tarn::test::Operation kOperations[] = {{"allocate", allocate},
                                                 {"deallocate", deallocate},
                                                 {"allocate and free 2", allocate_run},
                                                 {"allocate and free 16", allocate_long_run},
                                                 {"allocate 500, refused", refuse_run}};

}  // namespace

int main() {
  std::vector<void*> small_live, large_live;
  FixedPool* const small = make_pool(kSmallCount, small_live);
  FixedPool* const large = make_pool(kLargeCount, large_live);
  int failed = 0;
  for (const tarn::test::Operation& operation : kOperations) {
    long counts[2];
    for (const bool is_large : {false, true}) {
      pool = is_large ? large : small;
      live_blocks = is_large ? large_live : small_live;
      next = live_blocks.size() / 2;
      counts[is_large] = tarn::test::count_instructions(operation.run, tarn::test::Counted::kAll);
      if (counts[is_large] < 0) return 77;  // stepping is not allowed here
    }
    std::printf("%-24s %6ld of %zu blocks, %6ld of %zu\n", operation.name, counts[0], kSmallCount, counts[1],
                kLargeCount);
    failed |= counts[1] > counts[0] + kMostMore;
  }
  return failed;
}
