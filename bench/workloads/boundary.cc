// Sizes on both sides of every boundary that an allocator is likely to have, at 1, 4, 8 and 16 threads: no
// size may be much slower than the one below it. Batches of 64 blocks; the figure is per block (allocate and
// free).
#include "allocator_under_test.h"
#include "groups.h"
#include "table.h"
#include "threads.h"
#include "verify.h"

namespace tarn::bench {
namespace {

constexpr std::size_t kBatchBlocks = 64;
constexpr double kRowSeconds = 0.04;
constexpr std::size_t kSizes[] = {1024,  1025,  4096,           4097,       16344,         16345,
                                  32767, 32768, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1};

class Batches {
 public:
  explicit Batches(std::size_t bytes) : bytes_(bytes), blocks_(kBatchBlocks) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_blocks(
        blocks_, [this](std::size_t) { return bytes_; }, worker);
    free_all();
  }
  void round() {
    allocate_all();
    free_all();
  }

 private:
  void allocate_all() {
    for (void*& block : blocks_) {
      block = allocate(bytes_);
      touch(block, bytes_);
    }
  }
  void free_all() {
    for (void* block : blocks_) deallocate(block, bytes_);
  }

  std::size_t bytes_;
  Table<void*> blocks_;
};

}  // namespace

void run_boundary(Session& session) {
  for (const unsigned threads : {1u, 4u, 8u, 16u}) {
    for (const std::size_t bytes : kSizes) {
      const RowName name = row_name("%zu/threads/%u", bytes, threads);
      if (!session.wants(name)) continue;
      const Timing timing =
          time_rounds(threads, session.budget_ns(kRowSeconds), [&](unsigned) { return Batches(bytes); });
      const std::uint64_t blocks = timing.rounds * kBatchBlocks;
      session.report(name, timing.wall_ns / static_cast<double>(blocks), blocks);
    }
  }
}

}  // namespace tarn::bench
