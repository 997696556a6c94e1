// The blocks of a heap that no size class serves: of its own pages, or of malloc, one by one, so that a
// checker which knows malloc sees their ends.
#include "general/pools/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/process/process.h"
#include "page/spans.h"
#include "pool/freed_block.h"
#include "pool/heaps/heap_classes.h"

namespace tarn::internal {
namespace {

using detail::HeapState;
using detail::ProgramGuard;

/// Whether a charge may cross a soft limit, and take all that is left below a hard one: where threads have
/// nothing cached.
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
  bool is_time_to_look = false, qualifies = false;
  {
    ReturnedPages returned;
    const ProgramGuard guard(state.mutex);
    block = allocate_locked(state, request, charge, returned);
    if (!has_classes(state)) {
      is_time_to_look = state.call_rate.note_call();
      qualifies = qualifies_for_classes(state);
    }
  }
  if (is_time_to_look) look_at_clock(state);
  if (qualifies) begin_classes(state);
  return block;
}

// What threads have cached of the heap, and of those around it, may be what is missing.
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

bool may_have_cached(const HeapState& state) {
  for (const HeapState* heap = &state; heap != nullptr; heap = heap->around)
    if (has_classes(*heap)) return true;
  return false;
}

// malloc may be ours, and must not be called under a pool's lock: so the block is charged before it exists.
void* allocate_of_malloc(HeapState& state, std::size_t size, std::size_t alignment) {
  {
    ProgramGuard guard(state.mutex);
    if (!state.account.charge(size)) return nullptr;
    state.note_taken(size);
  }
  void* const block = system_blocks.allocate(state, size, alignment);
  ProgramGuard guard(state.mutex);
  block != nullptr ? state.account.settle() : state.credit(size);
  return block;
}

void* allocate_of_pages(HeapState& state, std::size_t size, std::size_t alignment) {
  const BlockRequest request = state.pages.request_of(size, alignment);
  // What can be seen to be too much is not charged for a moment: others would be refused meanwhile.
  if (!request.is_mixed && state.pages.mapped().least_limit() != SIZE_MAX && is_beyond_limit(state, request))
    return nullptr;
  const Charge charge = has_classes(state) ? Charge::kWithRoom : Charge::kWhatever;
  void* block = try_to_allocate(state, request, charge);
  if (block == nullptr && may_have_cached(state)) block = allocate_of_all(state, request);
  if (block != nullptr && state.pages.poisons()) os::note_pool_allocation(&state, block, size);
  return block;
}

std::size_t free_of_malloc(HeapState& state, void* block) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(state, block, &bytes))
    os::fatal_in_pool(state.name, "free of a pointer that is no block of the heap", block);
  return bytes;
}

}  // namespace

void* allocate_block(HeapState& state, std::size_t size, std::size_t alignment) {
  void* const block = state.is_over_malloc ? allocate_of_malloc(state, size, alignment)
                                           : allocate_of_pages(state, size, alignment);
  if (block != nullptr) note_soft_limits(state);
  return block;
}

void deallocate_block(HeapState& state, void* block) {
  if (state.is_over_malloc) {
    const std::size_t bytes = free_of_malloc(state, block);
    const ProgramGuard guard(state.mutex);
    return state.credit(bytes);
  }
  // No lock is held while bytes are overwritten, of which there may be many.
  if (state.wipes) wipe_block(block, block_bytes(state, block), state.pages.poisons());
  ReturnedPages returned;
  const ProgramGuard guard(state.mutex);
  if (!has_classes(state)) static_cast<void>(state.call_rate.note_call());
  state.credit(state.pages.take_back(block, returned));
}

std::size_t block_bytes(HeapState& state, const void* block) {
  if (state.is_over_malloc) return system_blocks.bytes_of_block(block);
  ProgramGuard guard(state.mutex);
  const std::size_t bytes = state.pages.block_bytes(block);
  if (state.pages.poisons()) os::unpoison(block, bytes);  // callers of usable_size may use all of it
  return bytes;
}

// One of malloc's always moves, so that a checker sees its new end.
bool resize_block(HeapState& state, void* block, std::size_t usable, std::size_t size) {
  if (state.is_over_malloc || size > usable || size < usable / 2) return false;
  if (state.wipes) wipe_block(static_cast<char*>(block) + size, usable - size, state.pages.poisons());
  if (state.pages.poisons()) {
    os::note_pool_resize(&state, block, size);
    os::unpoison(block, size);
  }
  return true;
}

bool owns_block(HeapState& state, const void* pointer) {
  if (state.is_over_malloc) return system_blocks.pool_of(pointer) == &state;
  os::LockGuard guard(state.mutex);
  return state.pages.find(pointer) != nullptr;
}

std::size_t prewarm_pages(HeapState& state, std::size_t bytes) {
  if (state.is_over_malloc || state.pages.lies_in_buffer()) return 0;
  if (state.may_have_classes && bytes >= kLeastBytesForClasses) begin_classes(state);
  if (has_classes(state)) return prewarm_classes(state, bytes);
  std::size_t taken = 0;
  ReturnedPages returned;
  for (; taken < bytes; taken += kPageBytes) {
    // Made without the mutex, since the system may take its time; the limit is asked only afterwards.
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

void clear_blocks(HeapState& state) {
  if (state.is_over_malloc) system_blocks.deallocate_all(state);
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
void end_pages(HeapState& state) {
  if (state.is_over_malloc) system_blocks.deallocate_all(state);
  ReturnedPages returned;
  state.pages.end(returned);
  credit_all(state);
}

}  // namespace tarn::internal
