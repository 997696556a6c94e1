// Every pool of the program: for statistics, trim and fork, and to free a pool's block when only its address
// is known.
//
// Threads: any. A PoolHeader is registered before a second thread can know its pool, so a fork finds the
// mutexes of all pools.
#pragma once
#include <atomic>
#include <cstddef>

#include "base/list.h"
#include "central/private_classes.h"
#include "general/pools/pool_header.h"
#include "os/locks/lock_rank.h"
#include "page/spans/span.h"
#include "tarn/pool_use.h"

namespace tarn::internal {

/// The position of a walk over all pools between two visits; visits run without a lock.
struct PoolWalk {
  PoolHeader* next;           // the next pool to visit; moves on when that pool ends
  std::uint64_t last_number;  // pools added later are not visited, so that the walk ends
  const void* stack_owner;    // as in PoolHeader
  PoolWalk* next_walk;
  // The number of the next pool, and how far the walk over its blocks has come, for next_picture_in_walk().
  std::uint64_t number;
  std::uintptr_t place;
};

/// Whether an object lies above this call on the thread's stack, judged by its distance.
inline bool lies_on_this_stack(const void* object) {
  constexpr std::size_t kLargestStack = std::size_t{64} << 20;
  return address_of(object) - address_of(__builtin_frame_address(0)) < kLargestStack;
}

class PoolRegistry {
 public:
  void add(PoolHeader& pool);
  void remove(PoolHeader& pool);
  /// From now on nothing of the pool lies on a thread's stack.
  void note_off_stack(PoolHeader& pool);

  /// Adds a pool of which only one may exist, unless `only` has one already. \returns whether it was added.
  bool add_only(PoolHeader& pool, std::atomic<PoolHeader*>& only);

  /// Walks over the present pools: begin_walk, then next_in_walk until it returns false. No lock is held in
  /// between, so the caller may do anything, also make and end pools.
  void begin_walk(PoolWalk& walk);
  /// The names of a pool, copied: they may outlive it.
  struct Names {
    char own[PoolHeader::kNameBytes], parent[PoolHeader::kNameBytes];
  };
  /// Counts the next pool's memory and copies its names. \returns false at the end, when the walk is over.
  bool next_in_walk(PoolWalk& walk, PoolUse* use, Names* names);

  /// What a picture is of.
  struct PictureOf {
    const char* kind;
    char name[PoolHeader::kNameBytes];
  };
  /// Takes the next picture of live blocks, of one pool, which is not empty. \returns false at the end, when
  /// the walk is over.
  bool next_picture_in_walk(PoolWalk& walk, LivePicture& picture, PictureOf* of);

  /// Calls use(pool of a private class) while no pool begins or ends; that one \returns nullptr for a class
  /// without one.
  template <typename Use>
  void with_pools_of_classes(const Use& use) const {
    os::LockGuard guard(mutex_);
    use([](SizeClass size_class) -> const PoolHeader* { return private_class(size_class).owner->pool; });
  }

  /// \returns the span of a pool over a caller's memory that holds an address, or nullptr. \cost a lock and a
  /// step per such pool, when there are any.
  Span* find_span(const void* pointer);

  /// A pool over a caller's memory begins; it has ended.
  void add_callers_memory(PoolHeader& pool);
  void remove_callers_memory(PoolHeader& pool);

  /// Lets all pools that any thread may shrink give memory back. \returns bytes given back to the page cache.
  std::size_t release_unused();

  /// Calls visit for a mutex of each pool. \pre a fork has locked the registry.
  void visit_mutexes_for_fork(os::ForkSet::Visit visit);
  /// Stops the process when the list of pools is not in the order of their numbers.
  void validate();

  /// In the child: drops pools and walks on the stacks of threads that are gone; the next threads get these
  /// stacks.
  void forget_vanished_stacks();

 private:
  friend class ObservedLayout;

  void add_locked(PoolHeader& pool);
  void remove_locked(PoolHeader& pool);
  void end_walk_locked(PoolWalk& walk);

  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kPoolRegistry>();
  List<PoolHeader> pools_;  // in the order of their numbers
  PoolWalk* first_walk_ = nullptr;
  std::uint64_t pools_added_ = 0;
  static constexpr os::Mutex& callers_memory_mutex_ = os::global_mutex<os::LockRank::kCallersMemory>();
  std::atomic<PoolHeader*> first_in_callers_memory_{nullptr};
};

extern PoolRegistry pool_registry;

// The span and the pool of a block, from its address alone.

inline bool is_slab(const Span* span) { return span != nullptr && span->kind == SpanKind::kSlab; }
inline bool is_of_pool(const Span* span) { return span != nullptr && span->kind == SpanKind::kPool; }

/// \returns the pool of a span of kind kPool. The lowest bit of the pointer is the pool's own mark.
inline PoolHeader* pool_of(const Span& span) { return static_cast<PoolHeader*>(span.unmarked_pool()); }

/// \returns the pool that is asked to free a block of a span, and how large it is; nullptr: none. Of slabs,
/// those of a pool that must see each call.
inline PoolHeader* asked_pool(const Span& span) {
  return is_of_pool(&span) || is_slab(&span) ? pool_of(span) : nullptr;
}

/// \returns the span of an address, also in a heap's buffer, which may itself be a large block; nullptr: no
/// span has it.
Span* find_any_span(const void* pointer);

/// \returns the pool of a block that the pool took from malloc (option pools_use_malloc), also the one that
/// stands for the general pool (system_blocks.h); nullptr: none.
PoolHeader* pool_over_system(const void* block);

/// Whether a live block is the general pool's own.
bool is_of_general_pool(const void* block);

/// \returns the bytes, with its guard, of the general pool's live block that begins at an address, which may
/// be any; 0: none does, or it is malloc's.
std::size_t bytes_in_general_pool(const void* address);

}  // namespace tarn::internal
