// The back end of a sensitive heap: wipes what is freed, and leaves the rest to the back end behind it.
#include "general/system_blocks.h"
#include "pool/heap_state.h"
#include "pool/wipe_block.h"

namespace tarn::internal {
namespace {

using detail::HeapState;

const HeapBackEnd& behind(const HeapState& state) { return *state.unwiped_back_end; }

void* allocate(HeapState& state, std::size_t size, std::size_t alignment) {
  return behind(state).allocate(state, size, alignment);
}

// No lock is held while bytes are overwritten, of which there may be many.
void deallocate(HeapState& state, void* block) {
  wipe_block(block, behind(state).usable_size(state, block), state.pages.poisons());
  behind(state).deallocate(state, block);
}

std::size_t usable_size(HeapState& state, const void* block) {
  return behind(state).usable_size(state, block);
}

bool resize(HeapState& state, void* block, std::size_t usable, std::size_t size) {
  if (!behind(state).resize(state, block, usable, size)) return false;
  wipe_block(static_cast<char*>(block) + size, usable - size, state.pages.poisons());
  return true;
}

bool owns(HeapState& state, const void* pointer) { return behind(state).owns(state, pointer); }

std::size_t prewarm(HeapState& state, std::size_t bytes) { return behind(state).prewarm(state, bytes); }

void free_blocks_of_malloc(HeapState& state) {
  while (void* const block = system_blocks.first_of(state)) deallocate(state, block);
}

// Live blocks of pages are wiped where the pages end (HeapPages::retire_list).
void clear(HeapState& state) {
  free_blocks_of_malloc(state);
  behind(state).clear(state);
}

void end(HeapState& state) {
  free_blocks_of_malloc(state);
  behind(state).end(state);
}

}  // namespace

constexpr HeapBackEnd kWipedHeap{allocate, deallocate, usable_size, resize, owns, prewarm, clear, end};

}  // namespace tarn::internal
