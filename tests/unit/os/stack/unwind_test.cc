#include "os/stack/unwind.h"

#include <ucontext.h>
#include <unwind.h>

#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/threads.h"

namespace tarn::internal::os {
namespace {

using Stack = std::vector<void*>;

[[gnu::noinline]] Stack captured() {
  std::array<void*, 128> addresses{};
  const unsigned count = capture_stack(addresses.data(), addresses.size());
  return Stack(addresses.begin(), addresses.begin() + count);
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* stack) {
  if (const auto address = _Unwind_GetIP(context); address != 0)
    static_cast<Stack*>(stack)->push_back(reinterpret_cast<void*>(address));
  return _URC_NO_REASON;
}

// By the unwinder of exceptions.
[[gnu::noinline]] Stack expected() {
  Stack stack;
  _Unwind_Backtrace(add_frame, &stack);
  return stack;
}

/// Both, from one frame: all but the first entries are those of the same callers.
struct Both {
  Stack own, libc;
};
[[gnu::noinline]] Both both() { return {captured(), expected()}; }

[[gnu::noinline]] Both deep(int depth) {
  if (depth == 0) return both();
  Both result = deep(depth - 1);
  asm volatile("" ::: "memory");
  return result;
}

void expect_same_callers(const Both& stacks) {
  // captured() and both() differ by the place of the call within both().
  ASSERT_GE(stacks.own.size(), 3u);
  ASSERT_GE(stacks.libc.size(), 3u);
  const Stack own(stacks.own.begin() + 2, stacks.own.end());
  const auto at =
      std::search(stacks.libc.begin(), stacks.libc.end(), own.begin(),
                  own.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(own.size(), 3)));
  ASSERT_NE(at, stacks.libc.end());
  const Stack rest(at, stacks.libc.end());
  const std::size_t common = std::min(own.size(), rest.size());
  EXPECT_TRUE(std::equal(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(common), rest.begin()));
  EXPECT_GE(own.size() + 1, rest.size()) << "the last frame may be one that has no caller";
}

TEST(Unwind, AgreesWithTheCLibraryInTheMainThread) { expect_same_callers(deep(20)); }

TEST(Unwind, AgreesWithTheCLibraryInAnotherThread) {
  Both stacks;
  std::thread([&] { stacks = deep(40); }).join();
  expect_same_callers(stacks);
}

TEST(Unwind, StopsWhereTheRoomEnds) {
  std::array<void*, 3> few{};
  EXPECT_EQ(capture_stack(few.data(), few.size()), few.size());
  EXPECT_EQ(capture_stack(few.data(), 0), 0u);
}

// A function with a frame of its own size, and one with a stack that is aligned anew.
[[gnu::noinline]] Both with_variable_frame(std::size_t bytes) {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(bytes));
  room[0] = 1;
  Both stacks = both();
  room[bytes - 1] = 1;
  return stacks;
}

TEST(Unwind, FollowsAFrameThatCountsFromTheFramePointer) { expect_same_callers(with_variable_frame(5000)); }

#if defined(__GLIBC__)  // musl has no makecontext
Stack of_coroutine;
ucontext_t main_context, coroutine_context;

void run_coroutine() {
  of_coroutine = captured();
  swapcontext(&coroutine_context, &main_context);
}

TEST(Unwind, EndsOnTheStackOfACoroutine) {
  if (test::kAddressSanitizer) GTEST_SKIP() << "the sanitizer does not know of the other stack";
  std::vector<char> stack(64 * 1024);
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack.data();
  coroutine_context.uc_stack.ss_size = stack.size();
  coroutine_context.uc_link = nullptr;
  makecontext(&coroutine_context, run_coroutine, 0);
  swapcontext(&main_context, &coroutine_context);
  EXPECT_GE(of_coroutine.size(), 2u);
  EXPECT_LE(of_coroutine.size(), 6u);
}
#endif

TEST(Unwind, HasNoRuleForWhatIsNoCode) {
  int number = 0;
  EXPECT_EQ(unwind_rule(&number).kind, UnwindRule::Kind::kUnknown);
  EXPECT_EQ(unwind_rule(reinterpret_cast<void*>(16)).kind, UnwindRule::Kind::kUnknown);
}

TEST(Unwind, FindsTheSameRulesAfterItHasForgottenThem) {
  const Stack before = captured();
  forget_unwind_rules();
  const Stack after = captured();
  ASSERT_EQ(before.size(), after.size());
  EXPECT_TRUE(std::equal(before.begin() + 2, before.end(), after.begin() + 2));
}

TEST(Unwind, ThreadsThatShareTheRulesFindTheirOwnStacks) {
  test::in_threads(4, [] {
    for (int i = 0; i < 300; ++i) {
      if (i % 50 == 0) forget_unwind_rules();
      const Both stacks = deep(i % 7);
      expect_same_callers(stacks);
    }
  });
}

}  // namespace
}  // namespace tarn::internal::os
