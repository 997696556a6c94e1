// Scopes of tests (tarn/testing.h) count what the thread allocates, exactly.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <tarn/testing.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "support/prelude.h"
#include "support/sizes.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

using detail::ScopedCalls;

constexpr std::size_t kUnit = 8 * kKiB;  // a block of it, or of twice as much, has no byte more

template <typename Work>
ScopedCalls counted(const Work& work) {
  ScopedCalls calls;
  EXPECT_EQ(detail::begin_counting(calls), detail::Counting::kOn);
  work();
  detail::end_counting(calls);
  return calls;
}

TEST(TestScope, CountsEachKindOfAllocationOnce) {
  void* block = nullptr;
  const auto expect_one = [&](const char* kind, const auto& allocate) {
    for (int i = 0; i < 3; ++i) {  // missed, and hit
      const ScopedCalls calls = counted([&] { block = allocate(); });
      EXPECT_EQ(calls.allocations, 1u) << kind;
      EXPECT_EQ(calls.live_bytes, static_cast<std::ptrdiff_t>(malloc_usable_size(block))) << kind;
      EXPECT_EQ(counted([&] { free(block); }).live_bytes, -calls.live_bytes) << kind;
    }
  };
  for (const std::size_t size : {1u, 100u, 3000u, 40000u, 1000000u}) {
    expect_one("malloc", [&] { return malloc(size); });
    expect_one("calloc", [&] { return calloc(1, size); });
    expect_one("realloc", [&] { return realloc(nullptr, size); });
    expect_one("memalign", [&] { return memalign(256, size); });
    expect_one("new", [&] { return ::operator new(size); });
    expect_one("nothrow", [&] { return ::operator new(size, std::nothrow); });
    expect_one("aligned", [&] { return ::operator new (size, std::align_val_t{128}); });
    expect_one("tarn", [&] { return tarn::allocate(size); });
  }
  expect_one("strdup", [&] { return strdup("text"); });
}

TEST(TestScope, CountsEveryHit) {
  EXPECT_EQ(counted([] {
              for (int i = 0; i < 1000; ++i) free(malloc(100));
            }).allocations,
            1000u);
}

TEST(TestScope, AReallocIsOneAllocationWhereverTheBlockGoes) {
  for (const std::size_t size : {60u, 61u, 5000u, 1u << 20, 3u << 20}) {
    void* block = malloc(60);
    const auto before = static_cast<std::ptrdiff_t>(malloc_usable_size(block));
    const ScopedCalls calls = counted([&] { block = realloc(block, size); });
    EXPECT_EQ(calls.allocations, 1u) << size;
    EXPECT_EQ(calls.live_bytes, static_cast<std::ptrdiff_t>(malloc_usable_size(block)) - before) << size;
    free(block);
  }
}

TEST(TestScope, ThePeakIsTheMostThatWasLiveBeyondTheBeginning) {
  void* const before = malloc(kUnit);
  const ScopedCalls calls = counted([&] {
    void* const first = malloc(2 * kUnit);
    free(before);
    free(first);
    free(malloc(2 * kUnit));
  });
  EXPECT_EQ(calls.peak_bytes, static_cast<std::ptrdiff_t>(2 * kUnit));
  EXPECT_EQ(calls.live_bytes, -static_cast<std::ptrdiff_t>(kUnit));
}

TEST(TestScope, CountsNeitherOtherThreadsNorBlocksOfPools) {
  std::atomic<int> turn{0};
  std::thread other([&] {
    while (turn != 1) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) free(malloc(100));
    turn = 2;
  });
  FixedPool pool(100);
  TARN_EXPECT_NO_ALLOCATION {
    turn = 1;
    while (turn != 2) std::this_thread::yield();
    pool.deallocate(pool.allocate());
  }
  other.join();
}

TEST(TestScope, OtherThreadsKeepTheirHits) {
  std::atomic<int> turn{0};
  const void *empty = nullptr, *before = nullptr, *within = nullptr;
  std::thread other([&] {
    empty = detail::own_cache();
    for (int i = 0; i < 1000; ++i) free(malloc(100));
    before = detail::own_cache();
    turn = 1;
    while (turn != 2) std::this_thread::yield();
    free(malloc(100));
    within = detail::own_cache();
  });
  while (turn != 1) std::this_thread::yield();
  TARN_EXPECT_PEAK_BELOW(kUnit) {
    turn = 2;
    other.join();
  }
  EXPECT_EQ(before, within);
  const bool each_call_is_slow = getenv("TARN_COUNT_CALLS") != nullptr || getenv("TARN_CHECK") != nullptr;
  EXPECT_EQ(before == empty, each_call_is_slow);
}

TEST(TestScope, WhatAHeapOfTheThreadServesIsNotCounted) {
  Heap heap("test");
  const HeapScope around(heap);
  TARN_EXPECT_NO_ALLOCATION { free(malloc(100)); }
}

TEST(TestScope, CountsOnBehindAScopeOfAHeap) {
  Heap heap("test");
  const auto work = [&] {
    { const HeapScope inner(heap); }
    for (int i = 0; i < 10; ++i) free(malloc(100));
  };
  EXPECT_EQ(counted(work).allocations, 10u);
}

TEST(TestScope, CountsTheBlocksOfABatch) {
  void* blocks[10];
  const auto take = [&] { tarn::deallocate_batch(blocks, tarn::allocate_batch(100, 10, blocks)); };
  EXPECT_EQ(counted(take).allocations, 10u);
}

TEST(TestScope, GoesOnInAChild) {
  ScopedCalls calls;
  detail::begin_counting(calls);
  const pid_t child = fork();
  const std::size_t before = calls.allocations;
  free(malloc(100));
  const std::size_t more = calls.allocations - before;
  detail::end_counting(calls);
  if (child == 0) _exit(static_cast<int>(more + counted([] { free(malloc(100)); }).allocations));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(more, 1u);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(TestScope, AFailureIsToldAtTheLineOfTheMacro) {
  ::testing::TestPartResultArray failures;
  int line = 0;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    line = __LINE__ + 1;
    TARN_EXPECT_NO_ALLOCATION free(malloc(1));
  }
  ASSERT_EQ(failures.size(), 1);
  EXPECT_EQ(failures.GetTestPartResult(0).line_number(), line);
  EXPECT_STREQ(failures.GetTestPartResult(0).file_name(), __FILE__);
}

TEST(TestScope, APeakMustBeBelow) {
  const auto take_unit = [] { free(malloc(kUnit)); };
  TARN_EXPECT_PEAK_BELOW(kUnit + 1) { take_unit(); }
  const auto take_as_much = [&] { TARN_EXPECT_PEAK_BELOW(kUnit) take_unit(); };
  EXPECT_NONFATAL_FAILURE(take_as_much(), "1 allocations, of which 8192 bytes were live at most");
}

TEST(TestScope, ScopesMayBeNested) {
  TARN_EXPECT_PEAK_BELOW(kUnit + 100) {
    void* const block = malloc(kUnit);
    TARN_EXPECT_NO_ALLOCATION { memset(block, 1, kUnit); }
    free(block);
  }
  EXPECT_EQ(counted([] {
              TARN_EXPECT_NO_ALLOCATION {}
            }).allocations,
            0u);
  const auto nest = [] {
    TARN_EXPECT_NO_ALLOCATION { TARN_EXPECT_PEAK_BELOW(1000) free(malloc(1)); }
  };
  EXPECT_NONFATAL_FAILURE(nest(), "allocations");
}

TEST(TestScope, ScopesMayEndInAnyOrder) {
  ScopedCalls first, second;
  detail::begin_counting(first);
  detail::begin_counting(second);
  detail::end_counting(first);
  free(malloc(100));
  detail::end_counting(second);
  free(malloc(100));
  EXPECT_EQ(first.allocations, 0u);
  EXPECT_EQ(second.allocations, 1u);
}

TEST(TestScope, OneThatIsLeftEarlyIsCheckedAndOneThatAnExceptionLeavesIsNot) {
  const auto returns = [] { TARN_EXPECT_NO_ALLOCATION return free(malloc(1)); };
  EXPECT_NONFATAL_FAILURE(returns(), "1 allocations");
  try {
    TARN_EXPECT_NO_ALLOCATION throw 1;
  } catch (int) {
  }
  EXPECT_EQ(counted([] {}).allocations, 0u) << "and nothing is left of it";
}

}  // namespace
}  // namespace tarn::test
