// Source 001, the low-fragmentation heap: each thread allocates 20,480 blocks of a random size and then frees
// them in order, again and again. The figure is per block (allocate and free).
#include "allocator_under_test.h"
#include "clock.h"
#include "groups.h"
#include "random.h"
#include "table.h"
#include "threads.h"
#include "verify.h"

namespace tarn::bench {
namespace {

constexpr std::size_t kBlocks = 20'480;
constexpr double kRowSeconds = 0.2;

class RandomSizes {
 public:
  RandomSizes(std::uint32_t largest_bytes, unsigned index) : blocks_(kBlocks), sizes_(kBlocks) {
    Random random(index + 1);
    for (std::uint16_t& bytes : sizes_) bytes = static_cast<std::uint16_t>(random.between(1, largest_bytes));
  }

  void verify(Worker& worker) {
    allocate_all();
    verify_blocks(
        blocks_, [this](std::size_t i) { return std::size_t{sizes_[i]}; }, worker);
    free_all();
  }

  void round() {
    allocate_all();
    free_all();
  }

 private:
  void allocate_all() {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      blocks_[i] = allocate(sizes_[i]);
      touch(blocks_[i], sizes_[i]);
    }
  }
  void free_all() {
    for (std::size_t i = 0; i < kBlocks; ++i) deallocate(blocks_[i], sizes_[i]);
  }

  Table<void*> blocks_;
  Table<std::uint16_t> sizes_;
};

}  // namespace

void run_001(Session& session, std::uint32_t largest_bytes) {
  for (const unsigned threads : {1u, 4u, 8u, 16u}) {
    const RowName name = row_name("threads/%u", threads);
    if (!session.wants(name)) continue;
    const Timing timing = time_rounds(threads, session.budget_ns(kRowSeconds),
                                      [&](unsigned index) { return RandomSizes(largest_bytes, index); });
    const std::uint64_t blocks = timing.rounds * kBlocks;
    session.report(name, timing.wall_ns / static_cast<double>(blocks), blocks);
  }
  const RowName cold = row_name("cold");
  if (!session.wants(cold, Temperature::kCold)) return;
  RandomSizes work(largest_bytes, 0);
  const std::uint64_t first_ns = now_ns();
  work.round();
  session.report(cold, static_cast<double>(now_ns() - first_ns) / kBlocks, kBlocks, Temperature::kCold);
}

}  // namespace tarn::bench
