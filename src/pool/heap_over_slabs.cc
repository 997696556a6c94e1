// A heap over its own slabs.
#include "os/checker.h"
#include "pool/heap_state.h"

namespace tarn::internal {
namespace {

using detail::HeapState;
using detail::ProgramGuard;

void* allocate(HeapState& state, std::size_t size, std::size_t alignment, LiveBytes* live) {
  ReturnedPages returned;
  ProgramGuard guard(state.mutex);
  live->before = live->after = state.live_bytes;
  const BlockRequest request = state.slabs.request_of(size, alignment);
  if (!state.may_grow_locked(request.block_bytes)) return nullptr;
  void* const block = state.slabs.take_block(request, returned);
  if (block == nullptr) return nullptr;
  state.charge_locked(request.block_bytes);
  live->after = state.live_bytes;
  if (state.slabs.poisons()) os::note_pool_allocation(&state, block, size);
  return block;
}

void deallocate(HeapState& state, void* block) {
  ReturnedPages returned;
  ProgramGuard guard(state.mutex);
  state.credit_locked(state.slabs.take_back(block, returned));
}

std::size_t usable_size(HeapState& state, const void* block) {
  ProgramGuard guard(state.mutex);
  const std::size_t bytes = state.slabs.block_bytes(block);
  if (state.slabs.poisons()) os::unpoison(block, bytes);  // callers of usable_size may use all of it
  return bytes;
}

bool resize(HeapState& state, void* block, std::size_t usable, std::size_t size) {
  if (size > usable || size < usable / 2) return false;
  if (state.slabs.poisons()) {
    os::note_pool_resize(&state, block, size);
    os::unpoison(block, size);
  }
  return true;
}

bool owns(HeapState& state, const void* pointer) {
  os::LockGuard guard(state.mutex);
  return state.slabs.find(pointer) != nullptr;
}

std::size_t prewarm(HeapState& state, std::size_t bytes) {
  if (state.slabs.lies_in_buffer()) return 0;
  std::size_t taken = 0;
  for (; taken < bytes; taken += kPageBytes) {
    Span* const page = HeapSlabs::make_spare();
    if (page == nullptr) break;
    os::LockGuard guard(state.mutex);
    state.slabs.add_spare(page);
  }
  return taken;
}

void clear(HeapState& state) {
  ReturnedPages returned;
  os::LockGuard guard(state.mutex);
  if (state.slabs.poisons()) {
    os::end_checked_pool(&state);
    os::begin_checked_pool(&state);
  }
  state.slabs.retire_all(returned);
  state.live_bytes = state.live_count = 0;
}

// Without the lock, because memory goes back; no other thread uses the heap any more.
void end(HeapState& state) {
  ReturnedPages returned;
  state.slabs.end(returned);
}

}  // namespace

constexpr HeapBackEnd kHeapOverSlabs{allocate, deallocate, usable_size, resize, owns, prewarm, clear, end};

}  // namespace tarn::internal
