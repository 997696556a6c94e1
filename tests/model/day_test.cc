// A day of a server in a second: the sizes it asks for drift from 64 bytes to 7 KiB, its load grows until
// noon and falls until night. What a size no longer needs must go back, though its thread is busy with
// others all the time.
#include "support/pools.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/seed.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

class Day {
 public:
  explicit Day(std::uint64_t seed) : random_(seed) {}
  ~Day() {
    while (!blocks_.empty()) free_one();
  }
  Day(const Day&) = delete;
  Day& operator=(const Day&) = delete;

  void run_hour(unsigned hour) {
    const std::size_t usual = static_cast<std::size_t>(64 * std::pow(1.22, hour));
    const double load = 0.5 - 0.5 * std::cos(hour * std::acos(-1) / 12);
    const auto target = static_cast<std::size_t>((16 + 16 * load) * kMiB);
    for (int call = 0; call < 150'000; ++call) {
      if (live_ < target) add(usual / 2 + random_.below(usual));
      if (live_ > target || random_.below(2) == 0) free_one();
    }
    most_live_ = std::max(most_live_, live_);
    most_resident_ = std::max(most_resident_, resident_bytes() - before_);
  }
  std::size_t live() const { return live_; }
  std::size_t most_live() const { return most_live_; }
  std::size_t resident() const { return resident_bytes() - before_; }
  std::size_t most_resident() const { return most_resident_; }

 private:
  struct Block {
    void* start;
    std::size_t bytes;
  };

  void add(std::size_t bytes) {
    blocks_.push_back({PoolUnderTest::allocate(bytes), bytes});
    std::memset(blocks_.back().start, 1, bytes);
    live_ += bytes;
  }
  void free_one() {
    if (blocks_.empty()) return;
    std::swap(blocks_[random_.below(blocks_.size())], blocks_.back());
    live_ -= blocks_.back().bytes;
    PoolUnderTest::deallocate(blocks_.back().start);
    blocks_.pop_back();
  }

  const std::size_t before_ = resident_bytes();
  Random random_;
  std::vector<Block> blocks_;
  std::size_t live_ = 0, most_live_ = 0, most_resident_ = 0;
};

TEST(ADay, MemoryFollowsSizesThatDriftAndALoadThatFalls) {
  Day day(fresh_seed());
  for (unsigned hour = 0; hour < 24; ++hour) {
    day.run_hour(hour);
    std::printf("hour %u: %zu MiB live, %zu resident\n", hour, day.live() / kMiB, day.resident() / kMiB);
  }
  EXPECT_LE(day.most_resident(), 3.2 * static_cast<double>(day.most_live()));
  EXPECT_LE(day.resident(), 3.6 * static_cast<double>(day.live()));
}

}  // namespace
}  // namespace tarn::test
