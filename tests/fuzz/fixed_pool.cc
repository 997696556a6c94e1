// Fixed pools of any block size and cap, for one thread and for many: single blocks, runs and batches.
#include "tarn/fixed_pool.h"

#include <algorithm>
#include <optional>

#include "fuzz/program.h"
#include "pool/blocks/block_pool_state.h"
#include "tarn/memory_pool.h"

namespace tarn::fuzz {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

FixedPoolOptions read_options(Program& program) {
  FixedPoolOptions options;
  options.block_bytes = program.size_between(1, 16 * 1024);
  options.alignment = std::size_t{1} << program.below(13);
  options.blocks_per_chunk = program.flag() ? 1 + program.below(512) : 0;
  options.largest_count = program.flag() ? 1 + program.below(2000) : SIZE_MAX;
  return options;
}

template <typename Pool>
class FixedPoolRun final : public Run {
 public:
  FixedPoolRun(Program& program, const FixedPoolOptions& options)
      : Run(program), options_(options), pool_(std::in_place, options) {}

 private:
  void step(unsigned operation) override {
    if (operation < 6 && live_.bytes() > kMostBytes) operation = 11;
    switch (operation) {
      case 0:
      case 1:
      case 2:
        return note(pool_->allocate(), 1);
      case 3:
        return allocate_run(1 + program_.below(pool_->blocks_per_chunk()));
      case 4:
        return allocate_batch();
      case 5:
        return reserve();
      case 6:
        pool_->release_unused();
        return check_counts();
      case 7:
        if (program_.byte() % 4 != 0) return;
        pool_->clear();
        live_.forget_all();
        return check_counts();
      default:
        give_back_one();
    }
  }

  void note(void* blocks, std::size_t count) {
    const std::size_t most = options_.largest_count;
    if (blocks == nullptr) {
      check(count != 1 || live_count() == most, "a block is refused at the cap alone");
      return check(pool_->capacity() + pool_->blocks_per_chunk() > most,
                   "a run is refused near the cap alone");
    }
    check(reinterpret_cast<std::uintptr_t>(blocks) % options_.alignment == 0, "a block is aligned as asked");
    check(pool_->owns(blocks), "a pool owns its blocks");
    live_.add(blocks, count * pool_->block_bytes());
    check(live_count() <= most, "a pool keeps to its cap");
  }

  void allocate_run(std::size_t count) {
    if (count * pool_->block_bytes() <= kMostBytes) note(pool_->allocate_run(count), count);
  }

  void allocate_batch() {
    void* blocks[64];
    const std::size_t wanted = program_.below(64), taken = pool_->allocate_batch(wanted, blocks);
    check(taken == wanted || live_count() + taken == options_.largest_count,
          "a batch stops at the cap alone");
    for (std::size_t i = 0; i < taken; ++i) note(blocks[i], 1);
  }

  void reserve() {
    // A chunk takes a page at least, however few blocks it has.
    const std::size_t most = std::min(kMostBytes / pool_->block_bytes(), 64 * pool_->blocks_per_chunk());
    const std::size_t count = program_.below(1 + most);
    const std::size_t usable = program_.flag() ? pool_->reserve(count) : pool_->prewarm(count);
    check(usable == pool_->usable_count(), "reserve says what is usable");
    check(usable >= count || pool_->capacity() == options_.largest_count, "a reserve stops at the cap alone");
  }

  // As it was taken, block by block, or by who knows no more than the address.
  void give_back(const Block& run) override {
    const std::size_t bytes = pool_->block_bytes(), count = run.size / bytes;
    switch (run.pattern % 3) {
      case 0:
        return pool_->deallocate_run(run.start, count);
      case 1:
        for (std::size_t i = 0; i < count; ++i) pool_->deallocate(run.start + i * bytes);
        return;
      default:
        for (std::size_t i = count; i-- > 0;) tarn::deallocate(run.start + i * bytes);
    }
  }

  std::size_t live_count() const { return live_.bytes() / pool_->block_bytes(); }
  void end_pool() override { pool_.reset(); }
  void check_counts() const override {
    check(pool_->live_count() == live_count(), "a pool knows how many blocks are live");
    internal::validate(detail::BlockPoolAccess::state(*pool_));
    check_invariants();
  }

  const FixedPoolOptions options_;
  std::optional<Pool> pool_;
};

}  // namespace
}  // namespace tarn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tarn::fuzz;
  Program program(data, size);
  const bool is_shared = program.flag();
  const tarn::FixedPoolOptions options = read_options(program);
  if (is_shared) {
    FixedPoolRun<tarn::SharedFixedPool>(program, options).run_pool(12);
  } else {
    FixedPoolRun<tarn::FixedPool>(program, options).run_pool(12);
  }
  return 0;
}
