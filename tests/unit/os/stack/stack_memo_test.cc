#include "os/stack/stack_memo.h"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <array>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "os/stack/unwind.h"
#include "support/sanitizer.h"
#include "support/seed.h"

namespace tarn::internal::os {
namespace {

using Stack = std::vector<void*>;

/// A thread's walks, each checked against one that remembers nothing.
class Walks {
 public:
  explicit Walks(unsigned most) : most_(most) {}

  // The first addresses differ: where the two calls are.
  [[gnu::noinline]] void compare() {
    const CapturedStack found = reinterpret_cast<StackMemo*>(memory_.get())->capture(most_);
    expected_.resize(capture_stack(expected_.data(), 4096));
    EXPECT_EQ(found.hash, hash_of_stack(found.addresses, found.count));
    const bool is_cut = expected_.size() > most_;
    const unsigned inner = is_cut ? most_ - StackMemo::kOuterAddresses - 1 : found.count;
    ASSERT_EQ(found.count, is_cut ? most_ : expected_.size());
    for (unsigned i = 1; i < inner; ++i) ASSERT_EQ(found.addresses[i], expected_[i]) << i;
    for (unsigned i = 1; is_cut && i <= StackMemo::kOuterAddresses; ++i)
      ASSERT_EQ(found.addresses[found.count - i], expected_[expected_.size() - i]) << i << " from the root";
    if (is_cut) {
      EXPECT_EQ(found.addresses[inner], reinterpret_cast<void*>(StackMemo::kLeftOut));
    }
    expected_.resize(4096);
    ++compared_;
  }
  unsigned compared() const { return compared_; }

 private:
  const unsigned most_;
  std::unique_ptr<char[]> memory_{new char[StackMemo::bytes_for(most_)]()};
  Stack expected_ = Stack(4096);
  unsigned compared_ = 0;
};

/// Calls that go down and up a random tree of functions with frames of several kinds.
struct Wander {
  Walks& walks;
  std::minstd_rand random;
  unsigned left;

  [[gnu::noinline]] void plain(unsigned depth) {
    go_on(depth);
    asm volatile("" ::: "memory");
  }
  [[gnu::noinline]] void with_room(unsigned depth) {
    volatile char room[200];
    room[depth % sizeof room] = 1;
    go_on(depth);
    room[0] = 2;
  }
  // A frame that is found by the frame pointer.
  [[gnu::noinline]] void with_variable_room(unsigned depth) {
    auto* const room = static_cast<volatile char*>(__builtin_alloca(random() % 300 + 1));
    room[0] = 1;
    go_on(depth);
    room[0] = 2;
  }
  [[gnu::noinline]] void go_on(unsigned depth) {
    while (left != 0) {
      --left;
      walks.compare();
      if (random() % 3 == 0) return;
      if (depth == 0) continue;
      switch (random() % 3) {
        case 0:
          plain(depth - 1);
          break;
        case 1:
          with_room(depth - 1);
          break;
        default:
          with_variable_room(depth - 1);
      }
    }
  }
};

constexpr unsigned kUsual = 64;

void wander(unsigned seed, unsigned steps, unsigned depth, unsigned most = kUsual) {
  Walks walks(most);
  Wander wander{walks, std::minstd_rand(seed), steps};
  while (wander.left != 0) wander.go_on(depth);
  EXPECT_EQ(walks.compared(), steps);
}

TEST(StackMemo, FindsTheSameStacksAsAWalkWithoutIt) {
  wander(static_cast<unsigned>(test::fresh_seed()), static_cast<unsigned>(test::amount(20'000, 2'000'000)),
         40);
}

TEST(StackMemo, KeepsBothEndsOfStacksThatAreDeeperThanItsRoom) { wander(2, 3'000, 200); }

TEST(StackMemo, KeepsBothEndsOfAStackWhereFewAreAskedFor) {
  wander(3, 3'000, 30, StackMemo::kFewestAddresses);
}

TEST(StackMemo, FindsWholeStacksWhereManyAreAskedFor) { wander(4, 1'000, 300, StackMemo::kMostAddresses); }

// Goes down by a step each time, so that the root moves away from what is kept, and comes back.
[[gnu::noinline]] void go_down(Walks& walks, unsigned depth) {
  walks.compare();
  if (depth != 0) go_down(walks, depth - 1);
  walks.compare();
}

TEST(StackMemo, KeepsTheRootOfARecursionAtEachOfItsDepths) {
  Walks walks(StackMemo::kFewestAddresses);
  go_down(walks, 500);
  std::thread([&] { go_down(walks, 100); }).join();
  EXPECT_EQ(walks.compared(), 1204u);
}

TEST(StackMemo, FindsStacksInThreadsThatForgetTheRules) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (unsigned i = 0; i < 20; ++i) {
        forget_unwind_rules();
        wander(t * 100 + i, 100, 20);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

Walks* walks_of_coroutines;
ucontext_t main_context, coroutine_context;

void run_coroutine() {
  walks_of_coroutines->compare();
  swapcontext(&coroutine_context, &main_context);
}

// \why not inlined: getcontext returns twice, as far as the compiler knows
[[gnu::noinline]] void run_coroutine_on(std::vector<char>& stack) {
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack.data();
  coroutine_context.uc_stack.ss_size = stack.size();
  coroutine_context.uc_link = nullptr;
  makecontext(&coroutine_context, run_coroutine, 0);
  swapcontext(&main_context, &coroutine_context);
}

TEST(StackMemo, FindsStacksOfCoroutinesOneAfterAnother) {
  if (test::kAddressSanitizer) GTEST_SKIP() << "the sanitizer does not know of the other stack";
  Walks walks(kUsual);
  walks_of_coroutines = &walks;
  std::array<std::vector<char>, 2> stacks{std::vector<char>(64 * 1024), std::vector<char>(64 * 1024)};
  for (unsigned i = 0; i < 20; ++i) {
    run_coroutine_on(stacks[i / 2 % 2]);
    walks.compare();
  }
  EXPECT_EQ(walks.compared(), 40u);
}

TEST(StackMemo, HashesDifferWhereStacksDo) {
  void *const first = this, *const second = &main_context;
  void* const stacks[][2] = {{first, second}, {second, first}, {first, first}};
  EXPECT_NE(hash_of_stack(stacks[0], 2), hash_of_stack(stacks[1], 2));
  EXPECT_NE(hash_of_stack(stacks[0], 2), hash_of_stack(stacks[2], 2));
  EXPECT_NE(hash_of_stack(stacks[0], 1), hash_of_stack(stacks[0], 2));
}

}  // namespace
}  // namespace tarn::internal::os
