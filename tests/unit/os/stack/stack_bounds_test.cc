#include "os/stack/stack_bounds.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <thread>

#include "base/units.h"
#include "os/process/process.h"
#include "os/stack/unwind.h"

namespace tarn::internal::os {
namespace {

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
