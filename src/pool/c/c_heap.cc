// Heaps, their scopes and arenas for C: each call is that of the C++ object in the record.
#include "base/units.h"
#include "pool/c/c_api.h"
#include "tarn/arena.h"
#include "tarn/heap.h"
#include "tarn/pools.h"

using namespace tarn::internal;

struct tarn_heap {
  tarn::Heap heap;  // first, so that messages name the record's address
  void (*on_soft_limit)(tarn_heap* heap, void* context);
  void* context;
  c_api::Life life{};
};

struct tarn_arena {
  tarn::Arena arena;
  c_api::Life life{};
};

namespace {

void call_at_soft_limit(tarn::Heap&, void* context) {
  auto* const heap = static_cast<tarn_heap*>(context);
  heap->on_soft_limit(heap, heap->context);
}

tarn::HeapOptions options_of(const tarn_heap_options& options, void* context) {
  return {.name = options.name,
          .soft_limit = c_api::limit_of(options.soft_limit),
          .hard_limit = c_api::limit_of(options.hard_limit),
          .on_soft_limit = options.on_soft_limit != nullptr ? call_at_soft_limit : nullptr,
          .context = context,
          .buffer = options.buffer,
          .buffer_bytes = options.buffer_bytes,
          .mapped_limit = c_api::limit_of(options.mapped_limit),
          .parent = options.parent != nullptr ? &options.parent->heap : nullptr,
          .sensitive = options.sensitive != 0};
}

}  // namespace

const tarn::Heap& c_api::heap_of(const tarn_heap& heap) { return heap.heap; }

tarn_heap* tarn_heap_create(const tarn_heap_options* given, std::size_t bytes) noexcept {
  tarn_heap_options options;
  if (!c_api::read_options(options, given, bytes)) return nullptr;
  void* const record = metadata.allocate(sizeof(tarn_heap));
  if (record == nullptr) return c_api::fail(ENOMEM);
  auto* const heap =
      new (record) tarn_heap{tarn::Heap(options_of(options, record)), options.on_soft_limit, options.context};
  if (heap->heap.is_valid()) return heap;
  metadata.end(heap);
  return c_api::fail(options.buffer != nullptr ? EINVAL : ENOMEM);
}

void tarn_heap_destroy(tarn_heap* heap) noexcept {
  if (heap == nullptr) return;
  heap->life.end(heap);
  heap->heap.destroy();
  metadata.end(heap);
}

void* tarn_heap_allocate(tarn_heap* heap, std::size_t size) noexcept { return heap->heap.allocate(size); }

void* tarn_heap_allocate_aligned(tarn_heap* heap, std::size_t size, std::size_t alignment) noexcept {
  return heap->heap.allocate(size, alignment);
}

void* tarn_heap_allocate_zeroed(tarn_heap* heap, std::size_t count, std::size_t size) noexcept {
  return heap->heap.allocate_zeroed(count, size);
}

void* tarn_heap_reallocate(tarn_heap* heap, void* block, std::size_t size) noexcept {
  return heap->heap.reallocate(block, size);
}

void tarn_heap_deallocate(tarn_heap* heap, void* block) noexcept { heap->heap.deallocate(block); }

std::size_t tarn_heap_usable_size(const tarn_heap* heap, const void* block) noexcept {
  return heap->heap.usable_size(block);
}

int tarn_heap_owns(const tarn_heap* heap, const void* pointer) noexcept {
  return heap->heap.owns(pointer) ? 1 : 0;
}

void tarn_heap_clear(tarn_heap* heap) noexcept { heap->heap.clear(); }

std::size_t tarn_heap_release_unused(tarn_heap* heap) noexcept { return heap->heap.release_unused(); }

std::size_t tarn_heap_prewarm(tarn_heap* heap, std::size_t bytes) noexcept {
  return heap->heap.prewarm(bytes);
}

std::size_t tarn_heap_read_use(const tarn_heap* heap, tarn_heap_use* use, std::size_t bytes) noexcept {
  const tarn::HeapUse now = heap->heap.use();
  return c_api::write_use<tarn_heap_use>(
      {now.live_bytes, now.live_count, now.peak_live_bytes, now.mapped_bytes, now.inner_bytes}, use, bytes);
}

void tarn_heap_set_limits(tarn_heap* heap, std::size_t soft_limit, std::size_t hard_limit) noexcept {
  heap->heap.set_limits(c_api::limit_of(soft_limit), c_api::limit_of(hard_limit));
}

void tarn_heap_scope_begin(tarn_heap_scope* scope, tarn_heap* heap) noexcept {
  scope->outer = tarn::detail::enter_scope(heap->heap);
}

void tarn_heap_scope_end(const tarn_heap_scope* scope) noexcept {
  tarn::detail::exchange_scope(scope->outer);
}

tarn_arena* tarn_arena_create(const tarn_arena_options* given, std::size_t bytes) noexcept {
  tarn_arena_options options;
  if (!c_api::read_options(options, given, bytes)) return nullptr;
  // In C's options 0 is the usual value.
  const tarn::ArenaOptions full{.name = options.name,
                                .initial_bytes = c_api::value_or(options.initial_bytes, 4096),
                                .increment_bytes = options.increment_bytes,
                                .mapped_limit = c_api::limit_of(options.mapped_limit),
                                .heap = options.heap != nullptr ? &options.heap->heap : nullptr,
                                .buffer = options.buffer,
                                .buffer_bytes = options.buffer_bytes,
                                .may_grow = options.stays == 0,
                                .sensitive = options.sensitive != 0};
  void* const record = metadata.allocate(sizeof(tarn_arena));
  if (record == nullptr) return c_api::fail(ENOMEM);
  return new (record) tarn_arena{tarn::Arena(full)};
}

void tarn_arena_destroy(tarn_arena* arena) noexcept {
  if (arena == nullptr) return;
  arena->life.end(arena);
  arena->arena.~Arena();
  metadata.end(arena);
}

void* tarn_arena_allocate(tarn_arena* arena, std::size_t size) noexcept {
  return c_api::or_no_memory(arena->arena.allocate(size));
}

void* tarn_arena_allocate_aligned(tarn_arena* arena, std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment)) return c_api::fail(EINVAL);
  return c_api::or_no_memory(arena->arena.allocate(size, alignment));
}

int tarn_arena_on_cleanup(tarn_arena* arena, void (*run)(void* context), void* context) noexcept {
  // A function of C's throws nothing.
  if (arena->arena.on_cleanup(reinterpret_cast<void (*)(void*) noexcept>(run), context)) return 0;
  errno = ENOMEM;
  return -1;
}

tarn_arena_mark tarn_arena_set_mark(const tarn_arena* arena) noexcept {
  const tarn::ArenaMark mark = arena->arena.mark();
  return {mark.chunk, mark.next, mark.cleanup};
}

void tarn_arena_rewind(tarn_arena* arena, const tarn_arena_mark* mark) noexcept {
  arena->arena.rewind({mark->chunk, mark->next, mark->cleanup});
}

void tarn_arena_reset(tarn_arena* arena) noexcept { arena->arena.reset(); }

std::size_t tarn_arena_release_unused(tarn_arena* arena) noexcept { return arena->arena.release_unused(); }

std::size_t tarn_arena_prewarm(tarn_arena* arena, std::size_t bytes) noexcept {
  return arena->arena.prewarm(bytes);
}

std::size_t tarn_arena_used(const tarn_arena* arena) noexcept { return arena->arena.used(); }

std::size_t tarn_arena_capacity(const tarn_arena* arena) noexcept { return arena->arena.capacity(); }

std::size_t tarn_arena_high_water(const tarn_arena* arena) noexcept { return arena->arena.high_water(); }

int tarn_arena_owns(const tarn_arena* arena, const void* pointer) noexcept {
  return arena->arena.owns(pointer) ? 1 : 0;
}
