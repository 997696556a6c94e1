// A heap whose blocks come from malloc, one by one, so that a checker which knows malloc sees their ends.
#include "general/system_blocks.h"
#include "os/fatal.h"
#include "pool/heap_state.h"

namespace tarn::internal {
namespace {

using detail::HeapState;
using detail::ProgramGuard;

// malloc may be ours, and must not be called under a pool's lock: so the block is charged before it exists.
void* allocate(HeapState& state, std::size_t size, std::size_t alignment) {
  {
    ProgramGuard guard(state.mutex);
    if (!state.account.charge(size)) return nullptr;
    state.note_taken(size);
  }
  void* const block = system_blocks.allocate(state, size, alignment);
  {
    ProgramGuard guard(state.mutex);
    if (block == nullptr) {
      state.credit(size);
      return nullptr;
    }
    state.account.settle();
  }
  note_soft_limits(state);
  return block;
}

void deallocate(HeapState& state, void* block) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(state, block, &bytes))
    os::fatal_in_pool(state.name, "free of a pointer that is no block of the heap", block);
  ProgramGuard guard(state.mutex);
  state.credit(bytes);
}

std::size_t usable_size(HeapState&, const void* block) { return system_blocks.bytes_of_block(block); }

bool resize(HeapState&, void*, std::size_t, std::size_t) { return false; }

bool owns(HeapState& state, const void* pointer) { return system_blocks.pool_of(pointer) == &state; }

std::size_t prewarm(HeapState&, std::size_t) { return 0; }

void end(HeapState& state) {
  system_blocks.deallocate_all(state);
  ReturnedPages returned;
  state.pages.end(returned);
  credit_all(state);
}

void clear(HeapState& state) {
  system_blocks.deallocate_all(state);
  os::LockGuard guard(state.mutex);
  credit_all(state);
}

}  // namespace

constexpr HeapBackEnd kHeapOverMalloc{allocate, deallocate, usable_size, resize, owns, prewarm, clear, end};

}  // namespace tarn::internal
