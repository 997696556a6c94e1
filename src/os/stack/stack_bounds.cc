#include "os/stack/stack_bounds.h"

#include <cerrno>
#include <initializer_list>

#include "base/units.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "os/syscall.h"

extern "C" {
// Where the main thread's stack begins; of the dynamic loader.
[[gnu::weak]] extern void* __libc_stack_end;
}

namespace tarn::internal::os {
namespace {

constexpr std::uintptr_t kLargestStack = std::uintptr_t{1} << 30;
// What lies at the end of a thread's stack before its control block: thread-local variables.
constexpr std::uintptr_t kLargestEnd = 64 * 1024;

// \returns 0 when no thread's stack ends near behind the stack pointer.
std::uintptr_t end_of_own_stack(std::uintptr_t stack_pointer) {
  const std::uintptr_t main_end = &__libc_stack_end != nullptr ? address_of(__libc_stack_end) : 0;
  std::uintptr_t nearest = UINTPTR_MAX;
  for (const std::uintptr_t end : {address_of(__builtin_thread_pointer()), main_end})
    if (end > stack_pointer && end < nearest) nearest = end;
  return nearest - stack_pointer < kLargestStack ? nearest : 0;
}

}  // namespace

bool is_readable(std::uintptr_t page) {
  if (makes_common_calls_only()) return false;
  constexpr long kNoWay = -1, kMaskBytes = 8;
  return syscall6(SYS_rt_sigprocmask, kNoWay, static_cast<long>(page), 0, kMaskBytes) != -EFAULT;
}

StackBounds::StackBounds(std::uintptr_t stack_pointer, KnownStack& known)
    : known_(known),
      start_(stack_pointer & ~(page_bytes() - 1)),
      own_end_(end_of_own_stack(stack_pointer)),
      readable_end_(start_ + page_bytes()) {
  if (knows_own_stack() && start_ >= ~known.hidden_start) readable_end_ = own_end_;
}

bool StackBounds::extend(std::uintptr_t end) {
  if (end - start_ > kLargestStack || (own_end_ != 0 && end > own_end_)) return false;
  while (readable_end_ < end) {
    if (knows_own_stack() && readable_end_ == ~known_.hidden_start)
      readable_end_ = own_end_;
    else if (is_readable(readable_end_))
      readable_end_ += page_bytes();
    else
      return false;
  }
  return true;
}

void StackBounds::note_known() {
  const bool is_known = ~known_.hidden_end == own_end_ && start_ >= ~known_.hidden_start;
  if (own_end_ == 0 || is_known) return;
  if (own_end_ > readable_end_ && own_end_ - readable_end_ > kLargestEnd) return;
  if (extend(own_end_)) known_ = {~start_, ~own_end_};
}

}  // namespace tarn::internal::os
