// Options change while threads allocate, and while the process forks.
#include "support/child.h"
#include "support/content.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"
#include "tarn/stats.h"

namespace tarn::test {
namespace {

struct Change {
  const char *key, *value;
};
constexpr Change kChanges[] = {
    {"decay", "0"},
    {"thread_cache", "64K"},
    {"free_page_threshold", "256K"},
    {"background", "off"},
    {"share_slabs", "never"},
    {"huge_pages", "always"},
    {"huge_page_threshold", "0"},
    {"stats_file", "a"},
    {"decay", "10ms"},
    {"thread_cache", "8M"},
    {"free_page_threshold", "8M"},
    {"background", "on"},
    {"share_slabs", "always"},
    {"huge_pages", "never"},
    {"huge_page_threshold", "16M"},
    {"stats_file", "b"},
    {"decay", "2s"},
    {"share_slabs", "auto"},
    {"huge_pages", "auto"},
};

void set_next(std::size_t& next) {
  const Change& change = kChanges[next++ % std::size(kChanges)];
  if (set_option(change.key, change.value) != OptionResult::kSet) _exit(3);
}

/// Threads that allocate, free, and begin and end others, until they are told to stop.
class Allocating {
 public:
  explicit Allocating(unsigned count) : threads_(count, [this](unsigned i) { work(i); }) {}
  ~Allocating() {
    must_stop_ = true;
    threads_.join();
    for (std::atomic<void*>& shared : shared_) deallocate(shared.exchange(nullptr));
  }

  std::size_t steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  void work(std::uint64_t seed) {
    Random random(seed);
    for (; !must_stop_; steps_.fetch_add(1, std::memory_order_relaxed)) {
      const std::size_t size = 1 + random.below(random.below(50) == 0 ? 3 << 20 : 4000);
      char* const block = static_cast<char*>(allocate(size));
      block[0] = block[size - 1] = 1;
      deallocate(shared_[random.below(std::size(shared_))].exchange(block));
      if (random.below(2000) == 0) std::thread([] { deallocate(allocate(200)); }).join();
    }
  }

  std::atomic<bool> must_stop_{false};
  std::atomic<std::size_t> steps_{0};
  std::atomic<void*> shared_[300] = {};
  Threads threads_;
};

TEST(SetOptionConcurrency, ChangesWhileOthersAllocateHarmNothing) {
  {
    Allocating others(4);
    // The reader sees whole values only.
    std::atomic<bool> must_stop{false};
    std::thread reader([&] {
      while (!must_stop) {
        char text[600];
        if (option("stats_file", text) > 1) _exit(4);
        for_each_option([](const OptionState& state) {
          if (state.value[0] == '\0' && state.kind[0] != 'p') _exit(5);
        });
        static_cast<void>(stats());
      }
    });
    for (std::size_t next = 0; next < 20 * std::size(kChanges) || others.steps() < 20000;) set_next(next);
    must_stop = true;
    reader.join();
  }
  validate_library();
}

TEST(SetOptionConcurrency, TheLastOfManySettersIsWhatHolds) {
  in_threads(4, [](unsigned i) {
    for (std::size_t next = i; next < i + 5 * std::size(kChanges);) set_next(next);
  });
  ASSERT_EQ(set_option("decay", "0"), OptionResult::kSet);
  ASSERT_EQ(set_option("thread_cache", "1M"), OptionResult::kSet);
  deallocate(allocate(1 << 20));
  EXPECT_EQ(stats().free_dirty_bytes, 0u);
  EXPECT_EQ(internal::thread_limits.magazine_bytes, std::size_t{1} << 20);
  validate_library();
}

#if !defined(TARN_TEST_WITHOUT_FORK)
TEST(SetOptionConcurrency, AChildOfAForkBesideChangesCanSetOptions) {
  std::atomic<bool> must_stop{false};
  std::thread setter([&] {
    for (std::size_t next = 0; !must_stop;) set_next(next);
  });
  {
    Allocating others(2);
    for (int i = 0; i < 20; ++i) {
      const ChildResult child = run_in_child(
          [] {
            for (std::size_t next = 0; next < 2 * std::size(kChanges);) {
              set_next(next);
              deallocate(allocate(3000));
            }
            validate_library();
            return 0;
          },
          20);
      ASSERT_TRUE(child.is_success()) << child.describe();
    }
  }
  must_stop = true;
  setter.join();
}
#endif

}  // namespace
}  // namespace tarn::test
