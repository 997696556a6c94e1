// Random programs of single blocks, runs and batches on a fixed pool, against a model that knows every block.
#include <tuple>

#include "base/bitmap.h"
#include "pool/blocks/block_pool_state.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

struct Run {
  std::size_t count;
  std::uint64_t pattern;
};

template <typename Pool>
class FixedPoolModel {
 public:
  FixedPoolModel(const FixedPoolOptions& options, std::uint64_t seed)
      : pool_(options), options_(options), random_(seed) {
    most_live_ = std::min(options.largest_count, 24 * kMiB / pool_.block_bytes() + 3);
  }

  void run(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations && !::testing::Test::HasFatalFailure(); ++i) {
      step();
      if (i % 64 == 0 || i < 200) check_counts();
    }
    check_counts();
    while (!runs_.empty()) give_back(runs_.begin());
    check_counts();
    pool_.release_unused();
    EXPECT_EQ(pool_.capacity(), 0u);
  }

 private:
  using Runs = std::map<char*, Run>;

  void step() {
    const std::uint64_t choice = random_.below(1000);
    if (live_ > most_live_ || choice < growth_) return give_back_some();
    if (choice < 700) return note(pool_.allocate(), 1);
    if (choice < 900) return allocate_run();
    if (choice < 980) return allocate_batch();
    if (choice < 985)
      growth_ = random_.between(200, 600);
    else if (choice < 990)
      reserve();
    else if (choice == 990)
      clear();
    else if (choice == 991)
      pool_.release_unused();
    else
      give_back_many();
  }

  void reserve() {
    const std::size_t wanted = random_.below(100);
    const std::size_t usable = random_.below(2) == 0 ? pool_.reserve(wanted) : pool_.prewarm(wanted);
    EXPECT_EQ(usable, pool_.usable_count());
    EXPECT_TRUE(usable >= wanted || pool_.capacity() == options_.largest_count);
  }

  void allocate_run() {
    const std::size_t most = pool_.blocks_per_chunk();
    const std::size_t count =
        1 + random_.below(std::min<std::size_t>(most, std::size_t{1} << random_.below(10)));
    if (live_ + count <= most_live_) note(pool_.allocate_run(count), count);
  }

  void allocate_batch() {
    std::vector<void*> blocks(random_.below(100));
    const std::size_t taken = pool_.allocate_batch(blocks.size(), blocks.data());
    EXPECT_TRUE(taken == blocks.size() || pool_.capacity() == options_.largest_count);
    for (std::size_t i = 0; i < taken; ++i) note(blocks[i], 1);
  }

  void note(void* block, std::size_t count) {
    if (block == nullptr) {
      // Single blocks are refused only when there are none; runs, when the pool may not grow.
      EXPECT_TRUE(count != 1 || live_ == options_.largest_count);
      EXPECT_GT(pool_.capacity() + pool_.blocks_per_chunk(), options_.largest_count);
      EXPECT_FALSE(has_run(count)) << "a run is refused although there is one";
      return;
    }
    char* const start = static_cast<char*>(block);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(start) % options_.alignment, 0u);
    const auto after = runs_.lower_bound(start);
    ASSERT_TRUE(after == runs_.end() || after->first >= start + count * pool_.block_bytes()) << "overlaps";
    ASSERT_TRUE(after == runs_.begin() || end_of(std::prev(after)) <= start) << "overlaps";
    const Run run{count, random_.next()};
    fill(start, count * pool_.block_bytes(), run.pattern);
    runs_.emplace(start, run);
    live_ += count;
  }

  /// Whether a chunk has as many free blocks side by side. After a refusal nothing is cached.
  bool has_run(std::size_t count) {
    const detail::BlockPoolState& state = detail::BlockPoolAccess::state(pool_);
    const internal::Span* slab = state.owner->of(state.size_class).available.first();
    for (; slab != nullptr; slab = slab->next)
      if (internal::bitmap::find_run(slab->free_bits, slab->block_count, count) != slab->block_count)
        return true;
    return false;
  }

  char* end_of(typename Runs::iterator run) { return run->first + run->second.count * pool_.block_bytes(); }

  typename Runs::iterator pick() {
    // Near a random live address: every order, without a second index.
    char* const low = runs_.begin()->first;
    const auto extent = static_cast<std::size_t>(runs_.rbegin()->first - low) + 1;
    const auto found = runs_.lower_bound(low + random_.below(extent));
    return found != runs_.end() ? found : runs_.begin();
  }

  void give_back_some() {
    if (!runs_.empty()) give_back(pick());
  }

  void give_back(typename Runs::iterator run) {
    const auto [start, taken] = *run;
    const std::size_t stride = pool_.block_bytes();
    ASSERT_TRUE(holds(start, taken.count * stride, taken.pattern)) << "contents were lost";
    runs_.erase(run);
    live_ -= taken.count;
    switch (taken.count == 1 ? random_.below(3) : 3 + random_.below(3)) {
      case 0:
        return pool_.deallocate(start);
      case 1:
        return tarn::deallocate(start);
      case 3:
        return pool_.deallocate_run(start, taken.count);
      case 4:  // in two pieces
        pool_.deallocate_run(start + taken.count / 2 * stride, taken.count - taken.count / 2);
        return pool_.deallocate_run(start, taken.count / 2);
      case 5:
        for (std::size_t i = 0; i < taken.count; ++i) pool_.deallocate(start + i * stride);
        return;
      default:
        return pool_.deallocate_run(start, 1);
    }
  }

  // In order and not, with a nullptr now and then.
  void give_back_batch() {
    std::vector<void*> blocks;
    for (std::size_t left = random_.below(40); left > 0 && !runs_.empty(); --left) {
      const auto run = pick();
      const auto [start, taken] = *run;
      if (taken.count != 1) continue;
      ASSERT_TRUE(holds(start, pool_.block_bytes(), taken.pattern)) << "contents were lost";
      runs_.erase(run);
      --live_;
      blocks.push_back(start);
      if (random_.below(10) == 0) blocks.push_back(nullptr);
    }
    if (random_.below(2) == 0)
      for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random_.below(i)]);
    pool_.deallocate_batch(blocks.data(), blocks.size());
  }

  void give_back_many() {
    if (random_.below(2) == 0) return give_back_batch();
    for (std::size_t left = random_.below(runs_.size() + 1); left > 0; --left) give_back(pick());
  }

  void clear() {
    pool_.clear();
    runs_.clear();
    live_ = 0;
  }

  void check_counts() {
    internal::validate(detail::BlockPoolAccess::state(pool_));
    ASSERT_EQ(pool_.live_count(), live_);
    ASSERT_EQ(pool_.usable_count() + live_, pool_.capacity());
    ASSERT_LE(pool_.capacity(), options_.largest_count);
  }

  Pool pool_;
  FixedPoolOptions options_;
  Random random_;
  std::size_t most_live_;
  std::size_t live_ = 0;
  std::uint64_t growth_ = 450;  // of 1000 steps, how many free
  Runs runs_;
};

using Parameters = std::tuple<std::size_t, std::size_t>;

class FixedPoolPrograms : public ::testing::TestWithParam<Parameters> {
 protected:
  template <typename Pool>
  void run(std::uint64_t seed) {
    const auto [block_bytes, wanted_per_chunk] = GetParam();
    const std::size_t per_chunk = std::min(wanted_per_chunk, 64 * kMiB / block_bytes);  // it may be prewarmed
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::size_t alignment = std::size_t{1} << random.below(block_bytes >= 4096 ? 13 : 8);
    const std::size_t cap = random.below(2) == 0 ? SIZE_MAX : 1 + random.below(per_chunk * 3 + 100);
    FixedPoolModel<Pool> model({.block_bytes = block_bytes,
                                .alignment = alignment,
                                .blocks_per_chunk = per_chunk,
                                .largest_count = cap},
                               seed);
    model.run(amount(block_bytes > 4096 ? 2000 : 6000, 200000));
  }
};

TEST_P(FixedPoolPrograms, NeverOverlapAndCountEveryBlock) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) run<FixedPool>(seed);
  for (const std::uint64_t seed : {4u, 5u, 6u}) run<SharedFixedPool>(seed);
}

TEST_P(FixedPoolPrograms, WithASeedNobodyTriedNeverOverlap) {
  run<FixedPool>(fresh_seed());
  run<SharedFixedPool>(fresh_seed());
}

std::string name_of(const ::testing::TestParamInfo<Parameters>& info) {
  return std::to_string(std::get<0>(info.param)) + "BytesIn" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Of, FixedPoolPrograms,
                         ::testing::Combine(::testing::Values(1, 8, 24, 64, 100, 512, 1000, 4096, 65536),
                                            ::testing::Values(0, 1, 63, 64, 65, 1000, 32768)),
                         name_of);

}  // namespace
}  // namespace tarn::test
