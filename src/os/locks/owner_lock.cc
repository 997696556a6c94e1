#include "os/locks/owner_lock.h"

#include "os/locks/mutex.h"
#include "os/process/process.h"

namespace TARN_NAMESPACE::detail {

void fence_of_owner() noexcept {
#if defined(__x86_64__)
  asm volatile("lock; orl $0, (%%rsp)" ::: "memory", "cc");
#elif defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#else
#error "a full fence of this processor"
#endif
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal::os {
namespace {

using Side = detail::OwnerFences::Side;

constinit std::atomic<bool> is_prepared{false};
constinit std::atomic<bool> is_forbidden{false};
constinit std::atomic<std::uint32_t> forking_process{0};
constinit std::atomic<std::uint32_t> nobody_wakes{0};

// Others need microseconds; a second at most, since a fork may have left a count behind.
template <typename Condition>
void wait_until(Condition is_true) {
  for (int waits = 0; !is_true() && waits < 1000; ++waits) wait_on(&nobody_wakes, 0, 1);
}

// Whether this is a handler of the program's, in the child of a fork, that runs before
// forget_other_threads().
bool are_owners_gone() {
  return is_fork_owner() && forking_process.load(std::memory_order_relaxed) != process_id();
}

}  // namespace

void OwnerLock::prepare() {
  if (is_prepared.exchange(true) || seccomp_is_active()) return;
  visitors_in_call.fetch_add(1);
  auto expected = Side::kOwners;
  if (!is_forbidden.load() && fence_by_system())
    fences.side.compare_exchange_strong(expected, Side::kVisitors);
  visitors_in_call.fetch_sub(1);
}

void OwnerLock::forbid_calls() {
  is_forbidden = true;
  wait_until([] { return visitors_in_call.load() == 0; });  // prepare() may be on its way
  auto expected = Side::kVisitors;
  if (fences.side.compare_exchange_strong(expected, Side::kBoth)) {
    // Now each side has a fence; who entered without one did so before this call.
    fence_all_threads();
    fences.side.store(Side::kOwners);
  }
  wait_until([] { return fences.side.load() == Side::kOwners && visitors_in_call.load() == 0; });
}

void OwnerLock::fence_all_threads() {
  if (fences.side.load() == Side::kOwners) return;
  visitors_in_call.fetch_add(1);
  if (fences.side.load() != Side::kOwners && !fence_by_system()) {
    // A filter that the library was not told of. What a processor has stored others see within microseconds.
    fences.side.store(Side::kBoth);
    for (const std::uint64_t end = clock_ms() + 2; clock_ms() < end;) wait_on(&nobody_wakes, 0, 1);
    fences.side.store(Side::kOwners);
  }
  visitors_in_call.fetch_sub(1);
}

void OwnerLock::note_fork() {
  if (is_prepared) forking_process.store(process_id(), std::memory_order_relaxed);
}

void OwnerLock::forget_other_threads() {
  fences.process_number.fetch_add(1, std::memory_order_relaxed);
  visitors_in_call = 0;
  auto expected = Side::kBoth;
  fences.side.compare_exchange_strong(expected, Side::kOwners);
}

// An owner inside needs nanoseconds; or the processor, and then this thread sleeps: nobody wakes it.
bool OwnerLock::wait_for(detail::OwnerMark& mark, unsigned milliseconds) {
  constexpr unsigned kLooks = 100;
  const std::uint32_t inside = fences.process_number.load(std::memory_order_relaxed);
  for (unsigned looks = 0; mark.word().load(std::memory_order_seq_cst) == inside; ++looks) {
    if (looks < kLooks) continue;
    if (are_owners_gone()) return true;
    if (looks - kLooks >= milliseconds) return false;
    wait_on(&mark.word(), inside, 1);
  }
  return true;
}

}  // namespace tarn::internal::os
