// Scopes: a heap serves the calling thread's requests to the general pool.
#include "general/large.h"
#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "os/fatal.h"
#include "page/spans/page_map.h"
#include "pool/heaps/heap_state.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

namespace {

void* refuse(PoolHeader&, std::size_t, std::size_t) { return out_of_memory(); }

constexpr PoolOperations kRefusingOperations{
    .kind = "no heap", .record = PoolRecord::kNone, .allocate = refuse};

// The scope of a heap that could not be made. No registry has it, so its mutex is never taken.
constinit PoolHeader refusing_pool{.operations = &kRefusingOperations};

}  // namespace

void* exchange_scope(void* scope) noexcept {
  void* const before = this_thread_scope();
  if (scope != before) set_this_thread_scope(scope);
  return before;
}

void* enter_scope(Heap& heap) noexcept {
  PoolHeader* const pool = heap.is_valid() ? HeapAccess::state(heap) : &refusing_pool;
  return exchange_scope(pool);
}

Heap* current_heap() noexcept {
  PoolHeader* const pool = scope_pool();
  return pool != nullptr && pool != &refusing_pool ? static_cast<HeapState*>(pool)->heap : nullptr;
}

bool is_in_pages(const void* pointer) noexcept { return page_map.find(pointer) != nullptr; }

void say_that_malloc_is_foreign() noexcept {
  set_up_once();
  if (configuration.is_on(Option::kPoolsUseMalloc)) return;
  static constexpr char kLine[] =
      "tarn: a HeapScope serves tarn::allocate alone: malloc and new of this program are not tarn's\n";
  os::write_line(kLine, sizeof kLine - 1);
}

}  // namespace TARN_NAMESPACE::detail
