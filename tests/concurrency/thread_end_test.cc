// Allocation while a thread ends: in destructors of thread_local objects and of pthread keys, in every round
// of them.
#include <limits.h>
#include <pthread.h>

#include "concurrency/pool_memory.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

bool all_sizes_work() {
  void* kept[32] = {};
  std::size_t i = 0;
  bool is_good = true;
  for (const std::size_t size : landmark_sizes(5 * kMiB)) {
    kept[i] = Pool::allocate(size);
    is_good &= kept[i] != nullptr;
    fill(kept[i++], size, size);
  }
  i = 0;
  for (const std::size_t size : landmark_sizes(5 * kMiB)) {
    is_good &= holds(kept[i], size, size);
    Pool::deallocate(kept[i++]);
  }
  return is_good;
}

struct WorksWhenDestroyed {
  bool* is_good;
  ~WorksWhenDestroyed() { *is_good = *is_good && all_sizes_work(); }
};

TEST(ThreadEnd, DestructorsOfThreadLocalObjectsMayAllocate) {
  bool is_good = true;
  for (const bool has_allocated : {false, true})
    std::thread([&] {
      if (has_allocated) Pool::deallocate(Pool::allocate(100));
      thread_local WorksWhenDestroyed one{&is_good};
      (void)one;
    }).join();
  EXPECT_TRUE(is_good);
}

// Several keys, so that some are destroyed before the allocator's own and some after it, and each sets itself
// again until the last round.
constexpr int kKeys = 8;
// The thread sanitizer ends its own view of the thread in the last round.
constexpr int kRounds = kThreadSanitizer ? PTHREAD_DESTRUCTOR_ITERATIONS - 1 : PTHREAD_DESTRUCTOR_ITERATIONS;
pthread_key_t keys[kKeys];
struct KeyState {
  pthread_key_t key;
  int rounds = 0;
  bool is_good = true;
  void* block = nullptr;
};

void work_at_thread_end(void* argument) {
  auto* const state = static_cast<KeyState*>(argument);
  state->is_good &= all_sizes_work();
  if (state->block != nullptr) Pool::deallocate(state->block);
  state->block = Pool::allocate(333);
  if (++state->rounds < kRounds) pthread_setspecific(state->key, state);
}

TEST(ThreadEnd, DestructorsOfKeysMayAllocateInEveryRound) {
  KeyState states[kKeys];
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(pthread_key_create(&keys[i], work_at_thread_end), 0);
    states[i].key = keys[i];
  }
  std::thread([&] {
    for (KeyState& state : states) {
      state.block = Pool::allocate(333);
      pthread_setspecific(state.key, &state);
    }
  }).join();
  for (KeyState& state : states) {
    EXPECT_EQ(state.rounds, kRounds);
    EXPECT_TRUE(state.is_good);
    Pool::deallocate(state.block);
    pthread_key_delete(state.key);
  }
}

// The same when the thread's first allocation of all happens in the destructor.
TEST(ThreadEnd, TheFirstAllocationOfAThreadMayBeInADestructor) {
  for (int i = 0; i < 50; ++i) {
    KeyState state;
    ASSERT_EQ(pthread_key_create(&state.key, work_at_thread_end), 0);
    std::thread([&] { pthread_setspecific(state.key, &state); }).join();
    EXPECT_TRUE(state.is_good);
    Pool::deallocate(state.block);
    pthread_key_delete(state.key);
  }
}

TEST(ThreadEnd, WhatEndingThreadsAllocateComesBack) {
  trim_pool();
  const std::size_t before = held_bytes();
  for (std::uint64_t i = 0; i < amount(200, 2000); ++i) {
    KeyState state;
    ASSERT_EQ(pthread_key_create(&state.key, work_at_thread_end), 0);
    std::thread([&] { pthread_setspecific(state.key, &state); }).join();
    Pool::deallocate(state.block);
    pthread_key_delete(state.key);
  }
  trim_pool();
  EXPECT_LE(held_bytes(), before + 4 * kMiB);
}

}  // namespace
}  // namespace tarn::test
