// A heap over its own pages.
#include "os/checker.h"
#include "os/process.h"
#include "page/spans.h"
#include "pool/heap_classes.h"

namespace tarn::internal {
namespace {

using detail::HeapState;
using detail::ProgramGuard;

/// Whether a charge may cross a soft limit, and take all that is left below a hard one: where threads have
/// nothing at hand.
enum class Charge : bool { kWithRoom, kWhatever };

void* allocate_locked(HeapState& state, const BlockRequest& request, Charge charge, ReturnedPages& returned) {
  const Account::Below below =
      charge == Charge::kWithRoom ? Account::Below::kNextLimit : Account::Below::kHardLimit;
  if (!state.account.charge(request.block_bytes, below)) return nullptr;
  void* const block = state.pages.take_block(request, returned);
  if (block == nullptr) return state.account.credit(request.block_bytes), nullptr;
  state.note_taken(request.block_bytes);
  state.account.settle();
  return block;
}

bool has_classes(const HeapState& state) { return state.owner.load(std::memory_order_acquire) != nullptr; }

// The clock may be the program's: no lock is held around its call.
[[gnu::noinline]] void look_at_clock(HeapState& state) {
  const std::uint64_t now_ms = os::clock_ms();
  const ProgramGuard guard(state.mutex);
  state.call_rate.look(now_ms);
}

bool is_beyond_limit(HeapState& state, const BlockRequest& request) {
  const ProgramGuard guard(state.mutex);
  return state.pages.is_beyond_limit(request);
}

// A free does none of what an allocation does behind it: behind a heap's last block another thread may end
// the heap.
void* try_to_allocate(HeapState& state, const BlockRequest& request, Charge charge) {
  void* block = nullptr;
  bool is_time_to_look = false, has_earned = false;
  {
    ReturnedPages returned;
    const ProgramGuard guard(state.mutex);
    block = allocate_locked(state, request, charge, returned);
    if (!has_classes(state)) {
      is_time_to_look = state.call_rate.note_call();
      has_earned = has_earned_classes(state);
    }
  }
  if (is_time_to_look) look_at_clock(state);
  if (has_earned) begin_classes(state);
  return block;
}

// What threads have at hand of the heap, and of those around it, may be what is missing.
void* allocate_of_all(HeapState& state, const BlockRequest& request) {
  ReturnedPages returned;
  for (HeapState* around = state.around; around != nullptr; around = around->around) {
    os::LockGuard guard(around->mutex);
    const NoMagazines without = without_magazines(*around, returned);
  }
  os::LockGuard guard(state.mutex);
  const NoMagazines without = without_magazines(state, returned);
  return allocate_locked(state, request, Charge::kWhatever, returned);
}

bool may_have_at_hand(const HeapState& state) {
  for (const HeapState* heap = &state; heap != nullptr; heap = heap->around)
    if (has_classes(*heap)) return true;
  return false;
}

void* allocate(HeapState& state, std::size_t size, std::size_t alignment) {
  const BlockRequest request = state.pages.request_of(size, alignment);
  // What can be seen to be too much is not charged for a moment: others would be refused meanwhile.
  if (!request.is_mixed && state.pages.mapped().least_limit() != SIZE_MAX && is_beyond_limit(state, request))
    return nullptr;
  const Charge charge = has_classes(state) ? Charge::kWithRoom : Charge::kWhatever;
  void* block = try_to_allocate(state, request, charge);
  if (block == nullptr && may_have_at_hand(state)) block = allocate_of_all(state, request);
  if (block == nullptr) return nullptr;
  if (state.pages.poisons()) os::note_pool_allocation(&state, block, size);
  note_soft_limits(state);
  return block;
}

void deallocate(HeapState& state, void* block) {
  ReturnedPages returned;
  const ProgramGuard guard(state.mutex);
  if (!has_classes(state)) static_cast<void>(state.call_rate.note_call());
  state.credit(state.pages.take_back(block, returned));
}

std::size_t usable_size(HeapState& state, const void* block) {
  ProgramGuard guard(state.mutex);
  const std::size_t bytes = state.pages.block_bytes(block);
  if (state.pages.poisons()) os::unpoison(block, bytes);  // callers of usable_size may use all of it
  return bytes;
}

bool resize(HeapState& state, void* block, std::size_t usable, std::size_t size) {
  if (size > usable || size < usable / 2) return false;
  if (state.pages.poisons()) {
    os::note_pool_resize(&state, block, size);
    os::unpoison(block, size);
  }
  return true;
}

bool owns(HeapState& state, const void* pointer) {
  os::LockGuard guard(state.mutex);
  return state.pages.find(pointer) != nullptr;
}

std::size_t prewarm(HeapState& state, std::size_t bytes) {
  if (state.pages.lies_in_buffer()) return 0;
  if (state.may_have_classes && bytes >= kLeastBytesForClasses) begin_classes(state);
  if (has_classes(state)) return prewarm_classes(state, bytes);
  std::size_t taken = 0;
  ReturnedPages returned;
  for (; taken < bytes; taken += kPageBytes) {
    Span* const page = state.pages.make_spare();
    if (page == nullptr) break;
    os::LockGuard guard(state.mutex);
    if (!state.pages.add_spare(page)) {
      free_span(page, returned);
      break;
    }
  }
  return taken;
}

void clear(HeapState& state) {
  ReturnedPages returned;
  os::LockGuard guard(state.mutex);
  if (state.pages.poisons()) {
    os::end_checked_pool(&state);
    os::begin_checked_pool(&state);
  }
  state.pages.retire_all(returned);
  credit_all(state);
}

// Without the lock, because memory goes back; no other thread uses the heap any more.
void end(HeapState& state) {
  ReturnedPages returned;
  state.pages.end(returned);
  credit_all(state);
}

}  // namespace

constexpr HeapBackEnd kHeapOverPages{allocate, deallocate, usable_size, resize, owns, prewarm, clear, end};

}  // namespace tarn::internal
