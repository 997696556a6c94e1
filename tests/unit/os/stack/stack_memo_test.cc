#include "os/stack/stack_memo.h"

#include <pthread.h>
#include <ucontext.h>

#include "base/units.h"
#include "os/process/process.h"
#include "os/stack/stack_bounds.h"
#include "os/stack/unwind.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/threads.h"

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
  test::in_threads(4, [](unsigned t) {
    for (unsigned i = 0; i < 20; ++i) {
      forget_unwind_rules();
      wander(t * 100 + i, 100, 20);
    }
  });
}

#if defined(__GLIBC__)  // musl has no makecontext
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
#endif

TEST(StackMemo, HashesDifferWhereStacksDo) {
  int other = 0;
  void *const first = this, *const second = &other;
  void* const stacks[][2] = {{first, second}, {second, first}, {first, first}};
  EXPECT_NE(hash_of_stack(stacks[0], 2), hash_of_stack(stacks[1], 2));
  EXPECT_NE(hash_of_stack(stacks[0], 2), hash_of_stack(stacks[2], 2));
  EXPECT_NE(hash_of_stack(stacks[0], 1), hash_of_stack(stacks[0], 2));
}

/// Pages that can be read and written, and a guard behind them.
class GuardedStack {
 public:
  GuardedStack() {
    start_ = static_cast<char*>(
        mmap(nullptr, kBytes + page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(start_, kBytes, PROT_READ | PROT_WRITE);
  }
  ~GuardedStack() { munmap(start_, kBytes + page_bytes()); }
  GuardedStack(const GuardedStack&) = delete;
  GuardedStack& operator=(const GuardedStack&) = delete;
  char* start() const { return start_; }
  char* end() const { return start_ + kBytes; }

 private:
  static constexpr std::size_t kBytes = 64 * 1024;
  char* start_;
};

std::uintptr_t here() { return address_of(__builtin_frame_address(0)); }

TEST(StackBounds, AGuardAndWhatIsNotMappedCannotBeRead) {
  const GuardedStack stack;
  EXPECT_TRUE(is_readable(address_of(stack.start())));
  EXPECT_FALSE(is_readable(address_of(stack.end())));
  EXPECT_FALSE(is_readable(std::uintptr_t{1} << 60));
}

TEST(StackBounds, AForeignStackEndsBeforeItsGuard) {
  const GuardedStack stack;
  KnownStack known{};
  StackBounds bounds(address_of(stack.end()) - 20'000, known);
  EXPECT_TRUE(bounds.reach(address_of(stack.end()) - 19'000));
  EXPECT_TRUE(bounds.reach(address_of(stack.end())));
  EXPECT_FALSE(bounds.reach(address_of(stack.end()) + 8));
  EXPECT_FALSE(bounds.reach(UINTPTR_MAX));
  bounds.note_known();
  EXPECT_EQ(known.hidden_end, 0u) << "another stack may lie there next";
}

[[gnu::noinline, maybe_unused]] void expect_own_stack_is_known() {
  KnownStack known{};
  StackBounds first(here(), known);
  first.note_known();
  EXPECT_EQ(~known.hidden_start, here() & ~(page_bytes() - 1));
  EXPECT_GT(~known.hidden_end, here());
  StackBounds second(here(), known);
  EXPECT_TRUE(second.reach(~known.hidden_end));
  EXPECT_FALSE(second.reach(~known.hidden_end + 1));
}

// ThreadSanitizer puts more at the end of a thread's stack than a walk would ask for.
#if !defined(__SANITIZE_THREAD__)
TEST(StackBounds, AThreadsOwnStackIsAskedOnce) { std::thread(expect_own_stack_is_known).join(); }
#endif

#if defined(__x86_64__)
extern "C" void tarn_test_enter(void* top, void (*body)());
// Runs body on another stack. The function that calls it has the very first word of that stack, and tables
// that speak of a return address before it, as trampolines written by hand have.
asm(R"(
.text
.type tarn_test_enter,@function
tarn_test_enter:
 .cfi_startproc
 push %rbx
 .cfi_adjust_cfa_offset 8
 .cfi_offset rbx, -16
 mov %rsp, %rbx
 mov %rdi, %rsp
 jmp tarn_test_trampoline
 .cfi_endproc
.size tarn_test_enter,.-tarn_test_enter
.type tarn_test_trampoline,@function
tarn_test_trampoline:
 .cfi_startproc
 call *%rsi
 mov %rbx, %rsp
 pop %rbx
 ret
 .cfi_endproc
.size tarn_test_trampoline,.-tarn_test_trampoline
)");

unsigned found_count = 0;

void capture_on_other_stack() {
  void* addresses[32];
  found_count = capture_stack(addresses, 32);
}

TEST(StackBounds, AWalkEndsBeforeTheGuardThatLiesBehindATrampoline) {
  const GuardedStack stack;
  tarn_test_enter(stack.end(), capture_on_other_stack);
  EXPECT_EQ(found_count, 2u) << "the body, and the trampoline";
}
#endif

}  // namespace
}  // namespace tarn::internal::os
