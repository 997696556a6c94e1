// The slow side of HandlePool: its table of slots, in pages of the page cache. The table is a part of its
// pool: walks over all pools skip it, but the registry has it, so that fork takes its mutex.
#include <cstring>
#include <new>

#include "general/pool_registry.h"
#include "general/setup.h"
#include "os/fatal.h"
#include "page/metadata.h"
#include "page/page_map.h"
#include "page/spans.h"
#include "tarn/handle_pool.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

struct HandleTableState : PoolHeader, HandleTable {
  std::uint32_t first_free;
};

namespace {

static_assert(sizeof(HandleSlot) * HandleTable::kSlotsPerPage <= kPageBytes);

constexpr PoolOperations kOperations{.kind = "handle table"};

HandleTableState& state_of(HandleTable& table) { return static_cast<HandleTableState&>(table); }

bool make_page_locked(HandleTable& table, std::uint32_t index) {
  if (index == HandleTable::kPageCount) return false;
  // The span names no pool: no pointer into it is a block.
  const Span* const page = allocate_span({.pages = PageCount{1}, .kind = SpanKind::kPool});
  if (page == nullptr) return false;
  if (!page->is_zeroed) std::memset(page->start, 0, kPageBytes);
  table.pages[index].store(reinterpret_cast<HandleSlot*>(page->start), std::memory_order_release);
  return true;
}

}  // namespace

HandleTable* make_handle_table(const char* name) noexcept {
  set_up_once();
  void* const record = metadata.allocate(sizeof(HandleTableState));
  if (record == nullptr) return nullptr;
  auto* const state = new (record) HandleTableState{};
  state->operations = &kOperations;
  state->set_name(name, "object pool");
  state->first_free = HandleTable::kNoSlot;
  pool_registry.add(*state);
  return state;
}

void end_handle_table(HandleTable* table) noexcept {
  HandleTableState& state = state_of(*table);
  pool_registry.remove(state);
  ReturnedPages returned;
  for (std::atomic<HandleSlot*>& page : table->pages)
    if (HandleSlot* const slots = page.load(std::memory_order_relaxed); slots != nullptr)
      free_span(page_map.find(slots), returned);
  metadata.free(&state, sizeof(HandleTableState));
}

std::uint32_t take_handle_slot(HandleTable* table) noexcept {
  HandleTableState& state = state_of(*table);
  ProgramGuard guard(state.mutex);
  if (state.first_free != HandleTable::kNoSlot) {
    const std::uint32_t slot = state.first_free;
    state.first_free = (*table)[slot].next_free;
    return slot;
  }
  const std::uint32_t slot = table->count.load(std::memory_order_relaxed);
  if (slot % HandleTable::kSlotsPerPage == 0 && !make_page_locked(*table, slot / HandleTable::kSlotsPerPage))
    return HandleTable::kNoSlot;
  table->count.store(slot + 1, std::memory_order_release);
  return slot;
}

void give_back_handle_slot(HandleTable* table, std::uint32_t slot) noexcept {
  HandleTableState& state = state_of(*table);
  ProgramGuard guard(state.mutex);
  (*table)[slot].next_free = state.first_free;
  state.first_free = slot;
}

void stop_at_stale_handle(HandleTable* table, std::uint32_t slot, std::uint32_t generation) noexcept {
  const std::uintptr_t handle = (std::uintptr_t{generation} << 32) | slot;
  os::fatal_in_pool(state_of(*table).name, "use of a handle whose object has ended",
                    reinterpret_cast<const void*>(handle));
}

}  // namespace TARN_NAMESPACE::detail
