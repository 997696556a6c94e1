#include "general/pools/pool_registry.h"

#include <atomic>
#include <cstring>

#include "base/printable.h"
#include "base/text.h"
#include "central/cached/cached_blocks.h"
#include "central/live_blocks.h"
#include "central/slabs/slab.h"
#include "central/slabs/slab_owner.h"
#include "general/guarded/guarded_blocks.h"
#include "general/options/block_source.h"
#include "general/pools/live_picture.h"
#include "general/pools/system_blocks.h"
#include "os/fatal.h"
#include "os/locks/at_fork.h"
#include "os/locks/held_locks.h"
#include "page/spans/page_map.h"
#include "tarn/detail/error.h"

namespace tarn::internal {

constinit PoolRegistry pool_registry;

namespace {

// Runs before main, and so before the first pool is registered.
[[gnu::constructor]] void install_fork_handlers() {
  os::fork_set.set_walk(os::LockRank::kPool,
                        [](os::ForkSet::Visit visit) { pool_registry.visit_mutexes_for_fork(visit); });
  os::at_fork(nullptr, nullptr, [] { pool_registry.forget_vanished_stacks(); });
}

// \returns nullptr of a pool that owns no slabs.
SlabOwner* owner_of(const PoolHeader& pool) {
  return pool.operations->owner != nullptr ? pool.operations->owner(pool) : nullptr;
}

}  // namespace

// Names stand in messages of one line, and in formats that want characters.
void PoolHeader::set_name(const char* text, const char* fallback) {
  Text shown(name, kNameBytes - 1);
  add_shown(shown, *text != '\0' ? text : fallback, kNameBytes - 1);
  name[shown.length()] = '\0';
}

void PoolHeader::report_live(std::size_t count, std::size_t object_bytes) const {
  FixedText<256> line;
  line.add("tarn: '").add(name).add("' ended with ").add_decimal(count);
  line.add(count == 1 ? " live object of " : " live objects of ").add_decimal(object_bytes).add(" bytes\n");
  os::write_line(line);
}

void PoolRegistry::add_locked(PoolHeader& pool) {
  pool.number = ++pools_added_;
  pool.record = pool.operations->record;
  std::strncpy(pool.kind, pool.operations->kind, PoolHeader::kKindBytes - 1);
  pools_.push_back(&pool);
  if (SlabOwner* const owner = owner_of(pool)) owner->pool = &pool;
}

void PoolRegistry::remove_locked(PoolHeader& pool) {
  for (PoolWalk* walk = first_walk_; walk != nullptr; walk = walk->next_walk)
    if (walk->next == &pool) walk->next = pool.next;
  pools_.remove(&pool);
  if (SlabOwner* const owner = owner_of(pool)) owner->pool = nullptr;
}

void PoolRegistry::add(PoolHeader& pool) {
  os::LockGuard guard(mutex_);
  add_locked(pool);
}

bool PoolRegistry::add_only(PoolHeader& pool, std::atomic<PoolHeader*>& only) {
  os::LockGuard guard(mutex_);
  if (only.load(std::memory_order_relaxed) != nullptr) return false;
  add_locked(pool);
  only.store(&pool, std::memory_order_release);
  return true;
}

void PoolRegistry::remove(PoolHeader& pool) {
  os::LockGuard guard(mutex_);
  remove_locked(pool);
}

void PoolRegistry::note_off_stack(PoolHeader& pool) {
  os::LockGuard guard(mutex_);
  pool.stack_owner = nullptr;
}

void PoolRegistry::begin_walk(PoolWalk& walk) {
  os::LockGuard guard(mutex_);
  walk = {pools_.first(), pools_added_, detail::address_of_own_cache(), first_walk_, 0, 0};
  first_walk_ = &walk;
}

void PoolRegistry::end_walk_locked(PoolWalk& walk) {
  PoolWalk** link = &first_walk_;
  while (*link != &walk) link = &(*link)->next_walk;
  *link = walk.next_walk;
}

bool PoolRegistry::next_in_walk(PoolWalk& walk, PoolUse* use, Names* names) {
  ReturnedPages returned;
  os::LockGuard guard(mutex_);  // the pool cannot end while it is held
  while (walk.next != nullptr && walk.next->number <= walk.last_number) {
    PoolHeader& pool = *walk.next;
    walk.next = pool.next;
    if (pool.operations->use == nullptr) continue;
    *use = pool.operations->use(pool, returned);
    std::memcpy(names->own, pool.name, PoolHeader::kNameBytes);
    use->name = names->own;
    if (use->parent != nullptr) {
      std::memcpy(names->parent, use->parent, PoolHeader::kNameBytes);
      use->parent = names->parent;
    }
    return true;
  }
  end_walk_locked(walk);
  return false;
}

bool PoolRegistry::next_picture_in_walk(PoolWalk& walk, LivePicture& picture, PictureOf* of) {
  os::LockGuard guard(mutex_);  // the pool cannot end while it is held
  picture.clear();
  while (walk.next != nullptr && walk.next->number <= walk.last_number) {
    PoolHeader& pool = *walk.next;
    const auto add_live = pool.operations->add_live;
    if (walk.number != pool.number) walk.number = pool.number, walk.place = 0;
    if (add_live == nullptr || !add_live(pool, walk.place, picture)) walk.next = pool.next;
    if (picture.is_empty()) continue;
    of->kind = pool.operations->kind;
    std::memcpy(of->name, pool.name, PoolHeader::kNameBytes);
    return true;
  }
  end_walk_locked(walk);
  return false;
}

void PoolRegistry::add_callers_memory(PoolHeader& pool) {
  os::LockGuard guard(callers_memory_mutex_);
  pool.next_in_callers_memory = first_in_callers_memory_.load(std::memory_order_relaxed);
  first_in_callers_memory_.store(&pool, std::memory_order_release);
}

void PoolRegistry::remove_callers_memory(PoolHeader& pool) {
  os::LockGuard guard(callers_memory_mutex_);
  PoolHeader* const first = first_in_callers_memory_.load(std::memory_order_relaxed);
  if (first == &pool)
    return first_in_callers_memory_.store(pool.next_in_callers_memory, std::memory_order_release);
  PoolHeader* before = first;
  while (before->next_in_callers_memory != &pool) before = before->next_in_callers_memory;
  before->next_in_callers_memory = pool.next_in_callers_memory;
}

Span* PoolRegistry::find_span(const void* pointer) {
  if (first_in_callers_memory_.load(std::memory_order_acquire) == nullptr) return nullptr;
  os::LockGuard guard(callers_memory_mutex_);
  PoolHeader* pool = first_in_callers_memory_.load(std::memory_order_relaxed);
  for (; pool != nullptr; pool = pool->next_in_callers_memory)
    if (Span* const found = pool->operations->find_span(*pool, pointer)) return found;
  return nullptr;
}

std::size_t PoolRegistry::release_unused() {
  std::size_t bytes = 0;
  ReturnedPages returned;
  os::LockGuard guard(mutex_);
  for (PoolHeader* pool = pools_.first(); pool != nullptr; pool = pool->next)
    if (pool->operations->release_unused != nullptr)
      bytes += pool->operations->release_unused(*pool, returned);
  return bytes;
}

void PoolRegistry::visit_mutexes_for_fork(os::ForkSet::Visit visit) {
  for (PoolHeader* pool = pools_.first(); pool != nullptr; pool = pool->next) visit(pool->mutex);
}

void PoolRegistry::validate() {
  os::LockGuard guard(mutex_);
  std::uint64_t last_number = 0;
  const PoolHeader* last = nullptr;
  for (const PoolHeader* pool = pools_.first(); pool != nullptr; last = pool, pool = pool->next) {
    TARN_CHECK(pool->previous == last && pool->number > last_number && pool->operations != nullptr);
    last_number = pool->number;
  }
  TARN_CHECK(pools_.last() == last && last_number <= pools_added_);
}

void PoolRegistry::forget_vanished_stacks() {
  os::LockGuard guard(mutex_);
  for (PoolWalk** link = &first_walk_; *link != nullptr;) {
    if ((*link)->stack_owner == detail::address_of_own_cache()) {
      link = &(*link)->next_walk;
    } else {
      *link = (*link)->next_walk;
    }
  }
  for (PoolHeader* pool = pools_.first(); pool != nullptr;) {
    PoolHeader* const next = pool->next;
    if (pool->stack_owner != nullptr && pool->stack_owner != detail::address_of_own_cache()) {
      // The pool's record is on the stack too.
      if (SlabOwner* const owner = owner_of(*pool)) forget_cached_blocks(*owner);
      remove_locked(*pool);
    }
    pool = next;
  }
}

Span* find_any_span(const void* pointer) {
  Span* const span = page_map.find(pointer);
  if (is_slab(span)) return span;
  // Pages that a pool keeps ahead of need, or has given back, name no pool: they hold no block.
  if (is_of_pool(span) && pool_of(*span) == nullptr) return nullptr;
  if (span != nullptr && span->kind == SpanKind::kCached) return nullptr;
  Span* const in_buffer = pool_registry.find_span(pointer);
  return in_buffer != nullptr ? in_buffer : span;
}

// Where malloc is ours, the pool's malloc block is a block of one of our slabs.
PoolHeader* pool_over_system(const void* block) {
  if (!may_have_blocks_of_malloc() || guarded_blocks.owns(block)) return nullptr;
  if (PoolHeader* const pool = system_blocks.pool_of(block)) return pool;
  return find_any_span(block) == nullptr ? pool_of_unknown() : nullptr;
}

bool is_of_general_pool(const void* block) {
  if (guarded_blocks.owns(block)) return true;
  const detail::RecordPlace record = page_map.index().record_of(block);
  if (record != detail::RecordPlace::kNone) return !is_private_class(class_of_record(record));
  const Span* const span = find_any_span(block);
  if (span == nullptr || is_of_pool(span) || pool_over_system(block) != nullptr) return false;
  const SlabOwner* const owner = span->owner.load(std::memory_order_acquire);
  return owner == nullptr || !owner->is_of_pool;
}

std::size_t bytes_in_general_pool(const void* address) {
  if (guarded_blocks.owns(address))
    return guarded_blocks.is_block(address) ? guarded_blocks.bytes_of_block(address) : 0;
  const Span* const span = page_map.find(address);
  if (span == nullptr) return 0;
  if (span->kind == SpanKind::kLarge) return span->start == address ? span->bytes() : 0;
  const SlabOwner* const owner = owner_of_slab(span);
  BlockIndex index{};
  if (owner == nullptr || owner->is_of_pool || place_in_slab(*span, address, &index) != AddressIs::kBlock)
    return 0;
  const SizeClass size_class = span->size_class.load(std::memory_order_relaxed);
  return is_live(size_class, const_cast<void*>(address)) ? class_geometry[size_class].block_bytes : 0;
}

}  // namespace tarn::internal

namespace TARN_NAMESPACE {

void detail::end_for_lack_of_memory() noexcept {
  internal::os::fatal("out of memory in a pool that was to throw");
}

void for_each_pool(void (*visit)(const PoolUse& use, void* context), void* context) {
  internal::PoolWalk walk;
  internal::pool_registry.begin_walk(walk);
  PoolUse use{};
  internal::PoolRegistry::Names names;
  while (internal::pool_registry.next_in_walk(walk, &use, &names)) {
    internal::os::check_no_lock_is_held("while a function of the program's runs");
    visit(use, context);
  }
}

}  // namespace TARN_NAMESPACE
