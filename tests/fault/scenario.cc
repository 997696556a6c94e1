#include "fault/scenario.h"

#include <cerrno>
#include <thread>
#include <vector>

#include "support/content.h"
#include "support/sizes.h"
#include "tarn/memory_pool.h"

#define EXPECT_OR_RETURN(condition) \
  if (!(condition)) return __LINE__

namespace tarn::test {
namespace {

// Only the start of a block is written: the tests are about answers, and faulting pages in costs most of the
// time.
constexpr std::size_t kWritten = 1000;
std::size_t written(std::size_t size) { return size < kWritten ? size : kWritten; }

struct Live {
  void* block;
  std::size_t size;
};

/// Blocks that must stay whole, whatever fails.
class LiveBlocks {
 public:
  ~LiveBlocks() {
    for (const Live& live : blocks_) tarn::deallocate(live.block);
  }
  /// \returns whether the answer is one a caller can live with.
  bool note(void* block, std::size_t size) {
    if (block == nullptr) return errno == ENOMEM;
    fill(block, written(size), size);
    blocks_.push_back({block, size});
    return true;
  }
  bool are_whole() const {
    for (const Live& live : blocks_)
      if (!holds(live.block, written(live.size), live.size)) return false;
    return true;
  }
  std::vector<Live>& all() { return blocks_; }

 private:
  std::vector<Live> blocks_;
};

}  // namespace

int allocate_mixed_sizes() {
  LiveBlocks live;
  for (int round = 0; round < 3; ++round)
    for (const std::size_t size : boundary_sizes(300 * kKiB)) {
      errno = 0;
      EXPECT_OR_RETURN(live.note(tarn::allocate(size), size));
      if (size % 3 == 0) tarn::deallocate(tarn::allocate(size));
    }
  EXPECT_OR_RETURN(live.are_whole());
  return 0;
}

int allocate_large_blocks() {
  LiveBlocks live;
  for (const std::size_t size : {300 * kKiB, 2 * kMiB, 70 * kMiB, 9 * kMiB, 300 * kKiB}) {
    errno = 0;
    EXPECT_OR_RETURN(live.note(tarn::allocate(size), size));
    tarn::deallocate(tarn::allocate(size * 2));
    tarn::trim();
  }
  EXPECT_OR_RETURN(live.are_whole());
  return 0;
}

int reallocate_blocks() {
  for (const std::size_t first : {std::size_t{100}, 2000 * kKiB, 5 * kMiB}) {
    std::size_t size = first;
    void* block = tarn::allocate(size);
    if (block == nullptr) continue;
    fill(block, written(size), 1);
    for (const std::size_t next :
         {first * 2, first * 5, first * 3, first, 2 * kMiB, 20 * kMiB, 3 * kMiB, 50 * kKiB}) {
      errno = 0;
      void* const moved = tarn::reallocate(block, next);
      EXPECT_OR_RETURN(moved != nullptr || errno == ENOMEM);
      if (moved == nullptr) {
        EXPECT_OR_RETURN(holds(block, written(size), 1));
        continue;
      }
      EXPECT_OR_RETURN(holds(moved, written(size < next ? size : next), 1));
      block = moved;
      size = next;
      fill(block, written(size), 1);
    }
    tarn::deallocate(block);
  }
  return 0;
}

int allocate_aligned_blocks() {
  LiveBlocks live;
  for (std::size_t alignment = 32; alignment <= 4 * kMiB; alignment *= 4)
    for (const std::size_t size : {std::size_t{10}, alignment, 3 * alignment}) {
      errno = 0;
      void* const block = tarn::allocate(size, alignment);
      EXPECT_OR_RETURN(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
      EXPECT_OR_RETURN(live.note(block, size));
    }
  EXPECT_OR_RETURN(live.are_whole());
  return 0;
}

int allocate_zeroed_blocks() {
  LiveBlocks live;
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t size : landmark_sizes(5 * kMiB)) {
      errno = 0;
      void* const block = tarn::allocate_zeroed(1, size);
      EXPECT_OR_RETURN(block == nullptr || is_zero(block, written(size)));
      EXPECT_OR_RETURN(live.note(block, size));
    }
    for (std::size_t i = 0; i < live.all().size(); i += 2) {
      tarn::deallocate(live.all()[i].block);
      live.all()[i] = live.all().back();
      live.all().pop_back();
    }
    tarn::trim();
  }
  EXPECT_OR_RETURN(live.are_whole());
  return 0;
}

int allocate_batches() {
  for (const std::size_t size : landmark_sizes(kMiB)) {
    void* blocks[100];
    const std::size_t wanted = size > 64 * kKiB ? 10 : 100;
    errno = 0;
    const std::size_t count = tarn::allocate_batch(size, wanted, blocks);
    EXPECT_OR_RETURN(count == wanted || (count < wanted && errno == ENOMEM));
    for (std::size_t i = 0; i < count; ++i) fill(blocks[i], written(size), i);
    for (std::size_t i = 0; i < count; ++i) EXPECT_OR_RETURN(holds(blocks[i], written(size), i));
    tarn::deallocate_batch(blocks, count);
  }
  return 0;
}

int allocate_in_threads() {
  int failed_line = 0;
  for (int i = 0; i < 4; ++i)
    std::thread([&] {
      if (const int line = allocate_mixed_sizes(); line != 0) failed_line = line;
    }).join();
  return failed_line;
}

int free_from_another_thread() {
  std::vector<Live> blocks;
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t size : boundary_sizes(300 * kKiB)) {
      errno = 0;
      void* const block = tarn::allocate(size);
      EXPECT_OR_RETURN(block != nullptr || errno == ENOMEM);
      if (block == nullptr) continue;
      fill(block, written(size), size);
      blocks.push_back({block, size});
    }
    bool are_whole = true;
    std::thread([&] {
      for (const Live& live : blocks) {
        are_whole &= holds(live.block, written(live.size), live.size);
        tarn::deallocate(live.block);
      }
    }).join();
    EXPECT_OR_RETURN(are_whole);
    blocks.clear();
  }
  return 0;
}

int allocate_everything() {
  LiveBlocks live;
  for (int round = 0; round < 2; ++round)
    for (const std::size_t size : boundary_sizes(2 * kMiB)) {
      void* const block = tarn::allocate(size);
      EXPECT_OR_RETURN(block != nullptr);
      live.note(block, size);
    }
  EXPECT_OR_RETURN(live.are_whole());
  return 0;
}

}  // namespace tarn::test
