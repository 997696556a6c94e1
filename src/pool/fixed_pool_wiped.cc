// The back end of a sensitive fixed pool: wipes what is freed, and leaves the rest to the back end behind it.
#include "general/system_blocks.h"
#include "pool/fixed_pool_state.h"
#include "pool/wipe_block.h"

namespace tarn::internal {
namespace {

using detail::FixedPoolState;

const FixedPoolBackEnd& behind(const FixedPoolState& state) { return *state.unwiped_back_end; }

bool is_over_malloc(const FixedPoolState& state) { return &behind(state) == &kFixedPoolOverMalloc; }

// \returns 0 for what is no block of malloc's of the pool: the back end behind says so. Stops the process for
// what is no block of a chunk's.
std::size_t bytes_of(const FixedPoolState& state, const void* blocks, std::size_t count) {
  if (is_over_malloc(state))
    return system_blocks.pool_of(blocks) == &state ? system_blocks.bytes_of_block(blocks) : 0;
  find_blocks(state, blocks, count);
  return count * state.front->stride;
}

void wipe_blocks(const FixedPoolState& state, void* blocks, std::size_t count) {
  wipe_block(blocks, bytes_of(state, blocks, count), state.poisons);
}

void* allocate(FixedPoolState& state) { return behind(state).allocate(state); }

void* allocate_run(FixedPoolState& state, std::size_t count) {
  return behind(state).allocate_run(state, count);
}

void deallocate(FixedPoolState& state, void* block) {
  wipe_blocks(state, block, 1);
  behind(state).deallocate(state, block);
}

void deallocate_run(FixedPoolState& state, void* blocks, std::size_t count) {
  wipe_blocks(state, blocks, count);
  behind(state).deallocate_run(state, blocks, count);
}

void deallocate_batch(FixedPoolState& state, void* const* blocks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (blocks[i] != nullptr) wipe_blocks(state, blocks[i], 1);
  behind(state).deallocate_batch(state, blocks, count);
}

bool owns(const FixedPoolState& state, const void* pointer) { return behind(state).owns(state, pointer); }

std::size_t reserve(FixedPoolState& state, std::size_t count, bool populates) {
  return behind(state).reserve(state, count, populates);
}

std::size_t release_unused(FixedPoolState& state, ReturnedPages& returned) {
  return behind(state).release_unused(state, returned);
}

void wipe_live(FixedPoolState& state) {
  while (void* const block = behind(state).first_of_malloc(state)) deallocate(state, block);
  behind(state).visit_live(state,
                           [&](void* block) { wipe_block(block, state.front->stride, state.poisons); });
}

void clear(FixedPoolState& state) {
  wipe_live(state);
  behind(state).clear(state);
}

void end(FixedPoolState& state, ReturnedPages& returned) {
  wipe_live(state);
  behind(state).end(state, returned);
}

void visit_live(FixedPoolState& state, const BlockVisitor& visit) { behind(state).visit_live(state, visit); }

void* first_of_malloc(const FixedPoolState& state) { return behind(state).first_of_malloc(state); }

void validate_behind(FixedPoolState& state) { behind(state).validate(state); }

}  // namespace

constexpr FixedPoolBackEnd kWipedFixedPool{
    allocate,       allocate_run, deallocate, deallocate_run, deallocate_batch, owns,           reserve,
    release_unused, clear,        end,        visit_live,     first_of_malloc,  validate_behind};

}  // namespace tarn::internal
