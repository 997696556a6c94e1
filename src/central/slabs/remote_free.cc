#include "central/slabs/remote_free.h"

#include "central/slabs/class_slabs.h"
#include "central/slabs/slab.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kManyPending = 64;  // slabs; from here on the freer collects for a passive owner

/// Where a slab was announced.
struct Announced {
  SlabOwner* owner;  // nullptr: the Span is free
  SizeClass size_class;
};

// \returns false when the owner has not the class: then the slab is another owner's by now.
bool push_pending(SlabOwner& owner, Span* slab, Announced& announced) {
  announced = {&owner, slab->size_class.load(std::memory_order_relaxed)};
  if (!owner.has_class(announced.size_class)) return false;
  std::atomic<Span*>& stack = owner.of(announced.size_class).pending;
  // Before the push: who sees 0 may take it that nothing was announced, and a fork in between leaves a count
  // that is too high, not one that hides an announcement.
  owner.pending_count.fetch_add(1, std::memory_order_relaxed);
  Span* head = stack.load(std::memory_order_relaxed);
  do slab->pending_next.store(head, std::memory_order_relaxed);
  while (!stack.compare_exchange_weak(head, slab, std::memory_order_seq_cst, std::memory_order_relaxed));
  return true;
}

// Step 2 of a freer, after it has set is_pending. \returns the owner that got the announcement, and on which
// stack.
Announced announce(Span* slab) {
  for (Announced announced{};;) {
    if (SlabOwner* const owner = slab->owner.load(std::memory_order_seq_cst); owner != nullptr) {
      if (push_pending(*owner, slab, announced)) return announced;
      continue;
    }
    slab->is_pending.exchange(0, std::memory_order_seq_cst);
    // A slab made in between may rely on this announcement.
    if (slab->owner.load(std::memory_order_seq_cst) == nullptr || slab->is_pending.exchange(1) != 0)
      return {nullptr, SizeClass::kNone};
  }
}

// No thread collects for an orphan or a pool, and the threads of an idle owner do not collect either.
bool needs_help(const SlabOwner& owner) {
  return owner.threads.load(std::memory_order_seq_cst) == 0 ||
         owner.pending_count.load(std::memory_order_relaxed) > kManyPending;
}

// The holder of the mutex looks again after the unlock, so that no announcement made meanwhile is left.
void collect_for(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  while (owner.of(size_class).pending.load(std::memory_order_seq_cst) != nullptr && needs_help(owner)) {
    if (!owner.mutex.try_lock()) return;
    collect_pending_locked(owner, size_class, returned);
    owner.mutex.unlock();
  }
}

}  // namespace

void return_remote(Span* slab, std::uint32_t word, std::uint64_t mask, ReturnedPages& returned) {
  const std::uint64_t before = slab->remote_bits[word].fetch_or(mask, std::memory_order_seq_cst);
  if ((before & mask) != 0) [[unlikely]]
    stop_for_double_free(*slab, word, before & mask);
  // From here on the slab may end at any time.
  if (slab->is_pending.load(std::memory_order_seq_cst) != 0 || slab->is_pending.exchange(1) != 0) return;
  const auto [owner, told_class] = announce(slab);
  if (owner != nullptr && needs_help(*owner)) collect_for(*owner, told_class, returned);
}

bool collect_announced_locked(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  Span* slab = owner.of(size_class).pending.exchange(nullptr, std::memory_order_seq_cst);
  std::uint32_t count = 0;
  for (Span* next = nullptr; slab != nullptr; slab = next, ++count) {
    next = slab->pending_next.load(std::memory_order_relaxed);
    // Before its bits are merged: a later free announces the slab anew. A slab that has moved to another
    // owner meanwhile is announced there.
    slab->is_pending.exchange(0, std::memory_order_seq_cst);
    SlabOwner* const now = slab->owner.load(std::memory_order_seq_cst);
    if (now == &owner) {
      owner.taken_bytes -= std::size_t{merge_remote_bits(*slab)} * slab->stride;
      ++owner.counters.remote_batches;
      if (slab->free_count != 0) settle_slab(owner, slab, returned);
    } else if (now != nullptr && slab->is_pending.exchange(1) == 0) {
      announce(slab);
    }
  }
  owner.pending_count.fetch_sub(count, std::memory_order_relaxed);
  if (count != 0) {
    owner.is_trimmed = false;
    owner.missing_run = UINT32_MAX;
    settle_account(owner);
  }
  return !owner.of(size_class).available.is_empty();
}

// A Span that served a slab of another class may still be on that class's stack, and later frees in its new
// slab are then announced there too: where none may be missed, all stacks are collected.
void collect_all_announced_locked(SlabOwner& owner, ReturnedPages& returned) {
  for (const SizeClass size_class : classes_of(owner)) collect_pending_locked(owner, size_class, returned);
}

}  // namespace tarn::internal
