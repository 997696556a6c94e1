// A fixed pool whose blocks come from malloc, one allocation each.
#include "general/system_blocks.h"
#include "pool/fixed_pool_state.h"

namespace tarn::internal {
namespace {

using detail::FixedPoolState;

void raise(std::atomic<std::size_t>& peak, std::size_t now) {
  std::size_t most = peak.load(std::memory_order_relaxed);
  while (most < now && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

void* allocate_run(FixedPoolState& state, std::size_t count) {
  std::size_t live = state.capacity.load();
  do {
    if (state.largest_count - live < count) return nullptr;
  } while (!state.capacity.compare_exchange_weak(live, live + count));
  const std::size_t bytes = count * state.front->stride;
  void* const blocks = system_blocks.allocate(state, bytes, state.alignment);
  if (blocks != nullptr) {
    state.mapped_bytes += bytes;
    raise(state.peak, live + count);
    if (state.taken != nullptr) state.taken->raise_peak(live + count);
  } else {
    state.capacity -= count;
  }
  return blocks;
}

void* allocate(FixedPoolState& state) { return allocate_run(state, 1); }

// Blocks taken together are one malloc block: they are freed together, whatever count the caller passes.
void deallocate_run(FixedPoolState& state, void* blocks, std::size_t) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(state, blocks, &bytes))
    state.stop("free of a pointer that is no block of the pool", blocks);
  state.mapped_bytes -= bytes;
  state.capacity -= bytes / state.front->stride;
}

void deallocate(FixedPoolState& state, void* block) { deallocate_run(state, block, 1); }

void deallocate_batch(FixedPoolState& state, void* const* blocks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (blocks[i] != nullptr) deallocate(state, blocks[i]);
}

bool owns(const FixedPoolState& state, const void* pointer) {
  return system_blocks.pool_of(pointer) == &state;
}

std::size_t reserve(FixedPoolState&, std::size_t count, bool) { return count; }

std::size_t release_unused(FixedPoolState&, ReturnedPages&) { return 0; }

void clear(FixedPoolState& state) {
  system_blocks.deallocate_all(state);
  state.capacity = state.mapped_bytes = 0;
}

void end(FixedPoolState& state, ReturnedPages&) { clear(state); }

void visit_live(FixedPoolState& state, const BlockVisitor& visit) { system_blocks.visit(state, visit); }

void* first_of_malloc(const FixedPoolState& state) { return system_blocks.first_of(state); }

void validate_counts(FixedPoolState& state) {
  TARN_CHECK(state.ring.count() == 0 && state.capacity <= state.largest_count);
  TARN_CHECK(state.mapped_bytes == state.capacity * state.front->stride);
  state.walk.validate();
}

}  // namespace

constexpr FixedPoolBackEnd kFixedPoolOverMalloc{
    allocate,       allocate_run, deallocate, deallocate_run, deallocate_batch, owns,           reserve,
    release_unused, clear,        end,        visit_live,     first_of_malloc,  validate_counts};

}  // namespace tarn::internal
