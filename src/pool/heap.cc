// First-class heaps: slabs of a heap's own, with the general pool's size classes, behind one mutex.
//
// Invariant, with the mutex held: live_bytes is the sum of the block sizes of live blocks; each slab is in
// `available` of its class when it has free blocks and in `full` otherwise; blocks above 256 KiB, or aligned
// beyond a slab's, are slabs of one block; mapped_bytes is the sum of the slabs' bytes and of the spare
// pages'. Under a memory checker slabs that end first wait in `quarantine`.
#include "pool/heap.h"

#include <cerrno>
#include <cstring>
#include <new>

#include "base/units.h"
#include "central/size_class.h"
#include "central/slab.h"
#include "general/configuration.h"
#include "general/pool_registry.h"
#include "general/setup.h"
#include "general/system_blocks.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "page/background.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "pool/buffer_pages.h"

namespace TARN_NAMESPACE::detail {

using namespace internal;

struct HeapState : PoolHeader {
  Heap* heap;
  HeapUse use;
  std::size_t soft_limit;
  std::size_t hard_limit;
  void (*on_soft_limit)(Heap&, void*);
  void* context;
  bool is_calling_back;
  bool poisons;
  bool uses_system;
  BufferPages buffer;
  List<Span> full;
  List<Span> spare;       // single pages taken ahead of need
  List<Span> quarantine;  // slabs that have ended, the oldest first, all of them poisoned
  std::size_t quarantined_bytes;
  List<Span> available[kBinCount];
};

namespace {

constexpr std::size_t kLargestRequest = std::size_t{1} << 46;
constexpr std::size_t kOwnSlabBytes = 32 * 1024;  // above, a block is a slab
constexpr std::size_t kBlocksPerBufferSlab = 8;
constexpr std::size_t kQuarantineBytes = 16 * 1024 * 1024;

HeapState& state_of(PoolHeader& pool) { return static_cast<HeapState&>(pool); }

[[noreturn]] void stop(const HeapState& state, const char* what, const void* block) {
  os::fatal_in_pool(state.name, what, block);
}

bool lies_in_buffer(const HeapState& state) { return state.buffer.is_active(); }
std::size_t unit_bytes(const HeapState& state) {
  return lies_in_buffer(state) ? BufferPages::kUnitBytes : kPageBytes;
}

// A slab's size in bytes lies in `pages`, in units of its heap.
std::size_t slab_bytes(const HeapState& state, const Span& slab) { return slab.pages * unit_bytes(state); }

struct SlabShape {
  SizeClass size_class;  // 0: one block of no class
  std::size_t block_bytes;
  std::size_t stride;
  std::size_t bytes;
  std::size_t alignment;
};

SlabShape shape_of_class(const HeapState& state, SizeClass size_class) {
  const ClassGeometry& geometry = class_geometry.of[size_class];
  const std::size_t unit = unit_bytes(state), stride = geometry.stride;
  if (geometry.block_bytes > kOwnSlabBytes)
    return {size_class, geometry.block_bytes, stride, round_up(geometry.block_bytes, unit), unit};
  const std::size_t bytes = lies_in_buffer(state) ? round_up(stride * kBlocksPerBufferSlab, unit)
                                                  : bytes_of(geometry.first_slab_pages);
  return {size_class, geometry.block_bytes, stride, stride < 512 && lies_in_buffer(state) ? unit : bytes,
          unit};
}

SlabShape shape_of_request(const HeapState& state, std::size_t size, std::size_t alignment) {
  const std::size_t unit = unit_bytes(state);
  // Tiny ones have less.
  if (alignment > detail::kTinyLimit && size <= detail::kTinyLimit) size = detail::kTinyLimit + 1;
  if (size <= kMediumLimit && alignment <= unit) {
    const SizeClass size_class =
        alignment <= 16 ? class_of_bin[bin_of(size)] : aligned_class_of(class_of_bin.of, size, alignment);
    if (size_class != 0) return shape_of_class(state, size_class);
  }
  const std::size_t bytes = round_up(size == 0 ? 1 : size, unit);
  return {0, bytes, bytes, bytes, alignment < unit ? unit : alignment};
}

char* take_pages(HeapState& state, Span* slab, const SlabShape& shape) {
  if (lies_in_buffer(state)) return state.buffer.take(slab, shape.bytes, shape.alignment);
  if (shape.bytes == kPageBytes && shape.alignment == kPageBytes && !state.spare.is_empty()) {
    Span* const spare = state.spare.first();
    state.spare.remove(spare);
    state.use.mapped_bytes -= kPageBytes;
    char* const start = spare->start;
    span_store.give_back(spare);
    return start;
  }
  return page_cache
      .allocate_pages(static_cast<PageCount>(shape.bytes >> kPageShift), Density::kSparse, shape.alignment)
      .start;
}

void set_all_free(Span& slab) {
  for (std::uint32_t word = 0; word < slab.word_count; ++word) slab.free_bits[word] = ~std::uint64_t{0};
  if (slab.block_count % 64 != 0)
    slab.free_bits[slab.word_count - 1] = (std::uint64_t{1} << (slab.block_count % 64)) - 1;
  slab.free_count = slab.block_count;
}

Span* make_slab_locked(HeapState& state, const SlabShape& shape) {
  const auto block_count =
      static_cast<std::uint16_t>(shape.bytes / shape.stride == 0 ? 1 : shape.bytes / shape.stride);
  const auto word_count = static_cast<std::uint16_t>((block_count + 63) / 64);
  Span* const slab = span_store.take(word_count);
  if (slab == nullptr) return nullptr;
  char* const start = take_pages(state, slab, shape);
  if (start == nullptr) {
    span_store.give_back(slab);
    return nullptr;
  }
  slab->start = start;
  slab->pool = &state;
  slab->pages = static_cast<PageCount>(shape.bytes / unit_bytes(state));
  slab->stride = static_cast<std::uint32_t>(shape.stride);  // unused where it does not fit: one block
  slab->block_count = block_count;
  slab->word_count = word_count;
  slab->size_class.store(shape.size_class, std::memory_order_relaxed);
  slab->kind = SpanKind::kPool;
  slab->scan_word = 0;
  set_all_free(*slab);
  if (!lies_in_buffer(state)) page_map.set(slab);
  if (state.poisons) os::poison(start, shape.bytes);
  state.use.mapped_bytes += shape.bytes;
  return slab;
}

// \pre the slab is in no list.
void end_slab_locked(HeapState& state, Span* slab) {
  const std::size_t bytes = slab_bytes(state, *slab);
  char* const start = slab->start;
  if (state.poisons) os::unpoison(start, bytes);
  state.use.mapped_bytes -= bytes;
  if (lies_in_buffer(state)) {
    state.buffer.give_back(start, bytes);
  } else {
    page_map.clear(slab);
    page_cache.free_pages(start, static_cast<PageCount>(bytes >> kPageShift), PageState::kDirty);
  }
  slab->pool = nullptr;
  span_store.give_back(slab);
}

void end_quarantine_locked(HeapState& state, std::size_t bytes_to_keep, const Span* slab_to_keep) {
  while (Span* const slab = state.quarantine.first()) {
    if (slab == slab_to_keep || state.quarantined_bytes <= bytes_to_keep) return;
    state.quarantine.remove(slab);
    state.quarantined_bytes -= slab_bytes(state, *slab);
    end_slab_locked(state, slab);
  }
}

// Under a checker the pages stay the heap's for a while, so that a use of what has ended meets its mark and
// no other block.
// \pre the slab is in no list; its blocks have ended.
void retire_slab_locked(HeapState& state, Span* slab) {
  if (!state.poisons) return end_slab_locked(state, slab);
  set_all_free(*slab);
  os::poison(slab->start, slab_bytes(state, *slab));
  state.quarantine.push_back(slab);
  state.quarantined_bytes += slab_bytes(state, *slab);
  end_quarantine_locked(state, kQuarantineBytes, slab);
}

std::size_t block_bytes(const HeapState& state, const Span& slab) {
  const SizeClass size_class = slab.size_class.load(std::memory_order_relaxed);
  return size_class != 0 ? class_geometry.of[size_class].block_bytes : slab_bytes(state, slab);
}

// The last of a buffer may have room for a block where it has none for a slab of several.
Span* make_smallest_slab_locked(HeapState& state, SlabShape shape) {
  const std::size_t bytes = round_up(shape.block_bytes, unit_bytes(state));
  if (!lies_in_buffer(state) || bytes >= shape.bytes) return nullptr;
  shape.bytes = bytes;
  return make_slab_locked(state, shape);
}

void* take_block_locked(HeapState& state, const SlabShape& shape) {
  List<Span>& available = state.available[shape.size_class];
  Span* slab = shape.size_class != 0 ? available.first() : nullptr;
  if (slab == nullptr) {
    slab = make_slab_locked(state, shape);
    if (slab == nullptr) slab = make_smallest_slab_locked(state, shape);
    if (slab == nullptr) return nullptr;
    available.push_front(slab);
  }
  void* block = nullptr;
  if (slab->block_count == 1) {
    slab->free_bits[0] = 0;
    slab->free_count = 0;
    block = slab->start;
  } else {
    take_from_slab(*slab, &block, 1);
  }
  if (slab->free_count == 0) {
    available.remove(slab);
    state.full.push_front(slab);
  }
  return block;
}

void end_empty_slabs_locked(HeapState& state) {
  for (List<Span>& slabs : state.available) {
    for (Span* slab = slabs.first(); slab != nullptr;) {
      Span* const next = slab->next;
      if (slab->free_count == slab->block_count) {
        slabs.remove(slab);
        end_slab_locked(state, slab);
      }
      slab = next;
    }
  }
}

// In a buffer the empty slabs that were kept may be all that is left.
void* take_block_or_make_room_locked(HeapState& state, const SlabShape& shape) {
  void* const block = take_block_locked(state, shape);
  if (block != nullptr || (!lies_in_buffer(state) && state.quarantine.is_empty())) return block;
  end_quarantine_locked(state, 0, nullptr);
  if (lies_in_buffer(state)) end_empty_slabs_locked(state);
  return take_block_locked(state, shape);
}

void charge_locked(HeapState& state, std::size_t bytes) {
  state.use.live_bytes += bytes;
  ++state.use.live_count;
  if (state.use.live_bytes > state.use.peak_live_bytes) state.use.peak_live_bytes = state.use.live_bytes;
}

void credit_locked(HeapState& state, std::size_t bytes) {
  state.use.live_bytes -= bytes;
  --state.use.live_count;
}

// Runs the callback when `bytes` more have crossed the soft limit. It may use the heap: nothing is held
// meanwhile, and a crossing inside of it does not call it again.
void note_soft_limit(HeapState& state, std::size_t before, std::size_t after) {
  if (state.on_soft_limit == nullptr) return;
  {
    os::LockGuard guard(state.mutex);
    if (before > state.soft_limit || after <= state.soft_limit || state.is_calling_back) return;
    state.is_calling_back = true;
  }
  state.on_soft_limit(*state.heap, state.context);
  os::LockGuard guard(state.mutex);
  state.is_calling_back = false;
}

bool exceeds(std::size_t live, std::size_t more, std::size_t limit) {
  return live > limit || more > limit - live;
}

void* refuse() {
  errno = ENOMEM;
  return nullptr;
}

// Live bytes on either side of an allocation.
struct LiveBytes {
  std::size_t before, after;
};

// malloc may be ours, and is then not called under a pool's lock: the block is charged before it is there.
void* allocate_from_system(HeapState& state, std::size_t size, std::size_t alignment, LiveBytes* live) {
  {
    ProgramGuard guard(state.mutex);
    live->before = live->after = state.use.live_bytes;
    if (exceeds(live->before, size, state.hard_limit)) return nullptr;
    charge_locked(state, size);
    live->after = state.use.live_bytes;
  }
  void* const block = system_blocks.allocate(state, size, alignment);
  if (block != nullptr) return block;
  ProgramGuard guard(state.mutex);
  credit_locked(state, size);
  return nullptr;
}

void deallocate_to_system(HeapState& state, void* block) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(state, block, &bytes))
    stop(state, "free of a pointer that is no block of the heap", block);
  ProgramGuard guard(state.mutex);
  credit_locked(state, bytes);
}

void* allocate_from_slabs(HeapState& state, std::size_t size, std::size_t alignment, LiveBytes* live) {
  ProgramGuard guard(state.mutex);
  live->before = live->after = state.use.live_bytes;
  const SlabShape shape = shape_of_request(state, size, alignment);
  if (exceeds(live->before, shape.block_bytes, state.hard_limit)) return nullptr;
  void* const block = take_block_or_make_room_locked(state, shape);
  if (block == nullptr) return nullptr;
  charge_locked(state, shape.block_bytes);
  live->after = state.use.live_bytes;
  if (state.poisons) os::note_pool_allocation(&state, block, size);
  return block;
}

Span* find_span_locked(HeapState& state, const void* pointer) {
  Span* const span = lies_in_buffer(state) ? state.buffer.find(pointer) : page_map.find(pointer);
  return span != nullptr && span->marked_pool() == &state ? span : nullptr;
}

Span& span_of_block_locked(HeapState& state, const void* block, std::uint32_t* index) {
  Span* const slab = find_span_locked(state, block);
  if (slab == nullptr) stop(state, "free of a pointer that is no block of the heap", block);
  const std::size_t offset = address_of(block) - address_of(slab->start);
  *index = slab->block_count == 1 ? 0 : static_cast<std::uint32_t>(offset / slab->stride);
  if ((slab->block_count == 1 ? offset != 0 : *index * std::size_t{slab->stride} != offset) ||
      *index >= slab->block_count)
    stop(state, "free of a pointer into a block", block);
  if (((slab->free_bits[*index / 64] >> (*index % 64)) & 1) != 0) stop(state, "double free", block);
  return *slab;
}

// One empty slab of a class stays, against making and ending one in turn.
bool is_worth_keeping(const HeapState& state, const Span& slab) {
  const SizeClass size_class = slab.size_class.load(std::memory_order_relaxed);
  const List<Span>& available = state.available[size_class];
  return size_class != 0 && slab.block_count > 1 && available.first() == available.last();
}

/// \returns whether pages went back to the page cache.
bool take_back_locked(HeapState& state, void* block) {
  std::uint32_t index = 0;
  Span& slab = span_of_block_locked(state, block, &index);
  const std::size_t bytes = block_bytes(state, slab);
  if (state.poisons) {
    os::note_pool_free(&state, block);
    os::poison(block, bytes);
  }
  credit_locked(state, bytes);
  const bool was_full = slab.free_count == 0;
  mark_free(slab, index / 64, std::uint64_t{1} << (index % 64));
  List<Span>& available = state.available[slab.size_class.load(std::memory_order_relaxed)];
  if (was_full) {
    state.full.remove(&slab);
    available.push_front(&slab);
  }
  if (slab.free_count != slab.block_count || is_worth_keeping(state, slab)) return false;
  available.remove(&slab);
  retire_slab_locked(state, &slab);
  return !lies_in_buffer(state);
}

void deallocate_any(PoolHeader& pool, void* block) { heap_deallocate(&state_of(pool), block); }

void* allocate_any(PoolHeader& pool, std::size_t size, std::size_t alignment) {
  return heap_allocate(&state_of(pool), size, alignment);
}

void ignore(PoolHeader&, void*) {}

std::size_t usable_size_any(PoolHeader& pool, const void* block) {
  return heap_usable_size(&state_of(pool), block);
}

void* reallocate_any(PoolHeader& pool, void* block, std::size_t size) {
  return heap_reallocate(&state_of(pool), block, size);
}

PoolUse use_of(PoolHeader& pool, ReturnedPages&) {
  HeapState& state = state_of(pool);
  os::LockGuard guard(state.mutex);
  const HeapUse& use = state.use;
  return {state.operations->kind, state.name,       0,    use.live_count, use.live_bytes,
          use.peak_live_bytes,    use.mapped_bytes, false};
}

Span* find_span_any(PoolHeader& pool, const void* pointer) {
  HeapState& state = state_of(pool);
  if (!lies_in_buffer(state)) return nullptr;
  os::LockGuard guard(state.mutex);
  return state.buffer.find(pointer);
}

void retire_list_locked(HeapState& state, List<Span>& slabs) {
  while (Span* const slab = slabs.first()) {
    slabs.remove(slab);
    retire_slab_locked(state, slab);
  }
}

void retire_all_locked(HeapState& state) {
  retire_list_locked(state, state.full);
  for (List<Span>& slabs : state.available) retire_list_locked(state, slabs);
}

void end_spare_locked(HeapState& state) {
  while (Span* const page = state.spare.first()) {
    state.spare.remove(page);
    state.use.mapped_bytes -= kPageBytes;
    page_cache.free_pages(page->start, 1, PageState::kDirty);
    span_store.give_back(page);
  }
}

void end_all_locked(HeapState& state) {
  retire_all_locked(state);
  end_quarantine_locked(state, 0, nullptr);
  end_spare_locked(state);
}

std::size_t release_unused_any(PoolHeader& pool, ReturnedPages& returned) {
  HeapState& state = state_of(pool);
  os::LockGuard guard(state.mutex);
  const std::size_t before = state.use.mapped_bytes;
  end_quarantine_locked(state, 0, nullptr);
  end_empty_slabs_locked(state);
  end_spare_locked(state);
  returned.note_given_back();
  return before - state.use.mapped_bytes;
}

constexpr PoolOperations kOperations{"heap",         allocate_any, deallocate_any,     usable_size_any,
                                     reallocate_any, use_of,       release_unused_any, find_span_any};
// Blocks inside an arena's chunk are not freed one by one.
constexpr PoolOperations kArenaOperations{
    "arenas", nullptr, ignore, usable_size_any, nullptr, use_of, release_unused_any, nullptr};

void* refuse_any(PoolHeader&, std::size_t, std::size_t) { return refuse(); }

constexpr PoolOperations kRefusingOperations{"no heap", refuse_any, nullptr, nullptr,
                                             nullptr,   nullptr,    nullptr, nullptr};

// The scope of a heap that could not be made. In no registry, so its mutex is never taken.
constinit PoolHeader refusing_pool{.operations = &kRefusingOperations};

// The heap is in no registry yet.
HeapState* make_state(const HeapOptions& options, const PoolOperations& operations) {
  set_up_once();
  void* const record = metadata.allocate(sizeof(HeapState));
  if (record == nullptr) return nullptr;
  auto* const state = new (record) HeapState{};
  state->operations = &operations;
  state->set_name(options.name, "heap");
  state->soft_limit = options.soft_limit;
  state->hard_limit = options.hard_limit;
  state->on_soft_limit = options.on_soft_limit;
  state->context = options.context;
  state->uses_system = configuration.is_on(Option::kPoolsUseMalloc);
  if (options.buffer != nullptr && !state->buffer.begin(options.buffer, options.buffer_bytes)) {
    metadata.free(state, sizeof(HeapState));
    return nullptr;
  }
  return state;
}

}  // namespace

HeapState* make_heap(Heap& heap, const HeapOptions& options, bool poisons) noexcept {
  HeapState* const state = make_state(options, kOperations);
  if (state == nullptr) return nullptr;
  state->heap = &heap;
  state->poisons = poisons && !state->uses_system;
  if (state->poisons) os::begin_checked_pool(state);
  pool_registry.add(*state);
  if (lies_in_buffer(*state)) pool_registry.add_callers_memory(*state);
  return state;
}

void end_heap(HeapState* state) noexcept {
  if (state == nullptr) return;
  pool_registry.remove(*state);
  if (lies_in_buffer(*state)) pool_registry.remove_callers_memory(*state);
  if (state->poisons) os::end_checked_pool(state);
  if (state->uses_system) system_blocks.deallocate_all(*state);
  {
    os::LockGuard guard(state->mutex);
    end_all_locked(*state);
  }
  state->buffer.end();
  metadata.free(state, sizeof(HeapState));
  background.notice();
}

void* heap_allocate(HeapState* state, std::size_t size, std::size_t alignment) noexcept {
  if (!is_power_of_two(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  if (state == nullptr || size > kLargestRequest || alignment > kLargestRequest) return refuse();
  LiveBytes live{};
  void* const block = state->uses_system ? allocate_from_system(*state, size, alignment, &live)
                                         : allocate_from_slabs(*state, size, alignment, &live);
  if (block == nullptr) return refuse();
  note_soft_limit(*state, live.before, live.after);
  return block;
}

void heap_deallocate(HeapState* state, void* block) noexcept {
  if (state == nullptr) os::fatal("free of a block of a heap that has ended", block);
  if (state->uses_system) return deallocate_to_system(*state, block);
  bool has_given_back = false;
  {
    ProgramGuard guard(state->mutex);
    has_given_back = take_back_locked(*state, block);
  }
  if (has_given_back) background.notice();
}

std::size_t heap_usable_size(HeapState* state, const void* block) noexcept {
  if (state == nullptr) return 0;
  if (state->uses_system) return system_blocks.bytes_of_block(block);
  ProgramGuard guard(state->mutex);
  std::uint32_t index = 0;
  const std::size_t bytes = block_bytes(*state, span_of_block_locked(*state, block, &index));
  if (state->poisons) os::unpoison(block, bytes);  // who asks may use all of it
  return bytes;
}

void* heap_reallocate(HeapState* state, void* block, std::size_t size) noexcept {
  const std::size_t alignment = size <= detail::kTinyLimit ? detail::kTinyLimit : 16;
  if (block == nullptr) return heap_allocate(state, size, alignment);
  if (state == nullptr) os::fatal("use of a block of a heap that has ended", block);
  const std::size_t usable = heap_usable_size(state, block);
  if (!state->uses_system && size <= usable && size >= usable / 2) {
    if (state->poisons) {
      os::note_pool_resize(state, block, size);
      os::unpoison(block, size);
    }
    return block;
  }
  void* const moved = heap_allocate(state, size, alignment);
  if (moved == nullptr) return size <= usable ? block : nullptr;
  if (state->poisons) os::unpoison(block, usable);  // what the caller did not ask for is marked
  std::memcpy(moved, block, usable < size ? usable : size);
  heap_deallocate(state, block);
  return moved;
}

void heap_clear(HeapState* state) noexcept {
  if (state == nullptr) return;
  if (state->uses_system) system_blocks.deallocate_all(*state);
  {
    os::LockGuard guard(state->mutex);
    if (state->poisons) {
      os::end_checked_pool(state);
      os::begin_checked_pool(state);
    }
    retire_all_locked(*state);
    state->use.live_bytes = state->use.live_count = 0;
  }
  background.notice();
}

bool heap_owns(const HeapState* state, const void* pointer) noexcept {
  if (state == nullptr) return false;
  HeapState& heap = const_cast<HeapState&>(*state);
  if (heap.uses_system) return system_blocks.pool_of(pointer) == &heap;
  os::LockGuard guard(heap.mutex);
  return find_span_locked(heap, pointer) != nullptr;
}

std::size_t heap_release_unused(HeapState* state) noexcept {
  if (state == nullptr) return 0;
  ReturnedPages returned;
  return release_unused_any(*state, returned);
}

std::size_t heap_prewarm(HeapState* state, std::size_t bytes) noexcept {
  if (state == nullptr || lies_in_buffer(*state) || state->uses_system) return 0;
  std::size_t taken = 0;
  for (; taken < bytes; taken += kPageBytes) {
    Span* const page = span_store.take(0);
    if (page == nullptr) break;
    page->start = page_cache.allocate_pages(1).start;
    if (page->start == nullptr) {
      span_store.give_back(page);
      break;
    }
    os::populate(page->start, kPageBytes);
    os::LockGuard guard(state->mutex);
    state->spare.push_front(page);
    state->use.mapped_bytes += kPageBytes;
  }
  return taken;
}

HeapUse heap_use(HeapState* state) noexcept {
  if (state == nullptr) return {};
  os::LockGuard guard(state->mutex);
  return state->use;
}

void heap_set_limits(HeapState* state, std::size_t soft_limit, std::size_t hard_limit) noexcept {
  if (state == nullptr) return;
  os::LockGuard guard(state->mutex);
  state->soft_limit = soft_limit;
  state->hard_limit = hard_limit;
}

Heap* exchange_current_heap(Heap* heap) noexcept {
  Heap* const outer = current_heap();
  PoolHeader* pool = nullptr;
  if (heap != nullptr)
    pool = heap->is_valid() ? static_cast<PoolHeader*>(HeapAccess::state(*heap)) : &refusing_pool;
  set_this_thread_scope(pool);
  return outer;
}

Heap* current_heap() noexcept {
  PoolHeader* const pool = scope_pool();
  return pool != nullptr && pool != &refusing_pool ? state_of(*pool).heap : nullptr;
}

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

// Several threads may make one at the same time; the first that the registry takes is it.
detail::HeapState* arena_heap() {
  static constinit std::atomic<PoolHeader*> heap{nullptr};
  PoolHeader* made = heap.load(std::memory_order_acquire);
  if (made == nullptr) {
    detail::HeapState* const state = detail::make_state({.name = "arenas"}, detail::kArenaOperations);
    if (state == nullptr) return nullptr;
    if (!pool_registry.add_only(*state, heap)) metadata.free(state, sizeof(detail::HeapState));
    made = heap.load(std::memory_order_acquire);
  }
  return static_cast<detail::HeapState*>(made);
}

}  // namespace tarn::internal
