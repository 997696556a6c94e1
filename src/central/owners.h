// All owners of slabs: those of threads, the one that threads without an owner share, and the orphans, whose
// slabs others adopt.
//
// Invariant: an owner is in the list of orphans exactly when is_orphan; orphan_count counts those, and
// owners_in_use all others but the shared one.
// Synchronisation: `mutex` guards the lists; it ranks below the owners' own. Owners are only ever added, in
// front, so the list of all is walked without the mutex once its head is known.
#pragma once
#include <atomic>
#include <cstddef>

#include "central/slab_owner.h"

namespace tarn::internal {

class Owners {
 public:
  /// Where threads that have ended, or call rarely, allocate: an orphan that nobody adopts from.
  SlabOwner& shared() { return shared_; }

  os::Mutex& mutex() { return mutex_; }

  /// A new owner, of no thread yet. \returns nullptr when memory is refused. \pre mutex() is held.
  SlabOwner* make_locked();

  /// A thread begins to use an owner, or has ended and left it. \pre mutex() is held.
  void begin_use_locked(SlabOwner& owner);
  void end_use_locked(SlabOwner& owner);

  /// A slab of an orphan, now owned, counted and listed by `owner`; nullptr if there is none at once.
  /// \pre owner.mutex is held. \cost a load when there is no orphan.
  Span* adopt_slab(SlabOwner& owner, SizeClass size_class) {
    return orphan_count_.load(std::memory_order_relaxed) == 0 ? nullptr
                                                              : adopt_from_orphans(owner, size_class);
  }

  /// Gives back what owners keep whose thread had no slow call since the last time: empty slabs, free pages
  /// of others. \returns whether all owners were idle.
  bool trim_idle();

  /// The same for all owners. \returns bytes given back from inside slabs.
  std::size_t trim_all();

  /// Calls visit(owner) for each owner with its mutex held. No slab changes its owner meanwhile.
  template <typename Visit>
  void for_each(Visit visit) {
    os::LockGuard all_guard(mutex_);
    for (SlabOwner* owner = first_; owner != nullptr; owner = owner->next_owner) {
      os::LockGuard guard(owner->mutex);
      visit(*owner);
    }
  }

  /// Calls visit for the mutex of each owner. \pre a fork has locked mutex().
  void visit_for_fork(os::ForkSet::Visit visit);

  /// Stops the process where the lists and their counts do not agree.
  void validate();

  /// Owners that have a thread, and the most there were at once.
  std::uint32_t live_threads() const { return owners_in_use.load(std::memory_order_relaxed); }
  std::uint32_t peak_threads() const { return peak_threads_.load(std::memory_order_relaxed); }

 private:
  SlabOwner* first();
  Span* adopt_from_orphans(SlabOwner& owner, SizeClass size_class);

  os::Mutex& mutex_ = os::global_mutex<os::LockRank::kThreads>();
  SlabOwner shared_{};
  SlabOwner* first_ = &shared_;
  List<SlabOwner> orphans_;
  std::atomic<std::uint32_t> orphan_count_{0};
  std::atomic<std::uint32_t> peak_threads_{0};
};

extern Owners owners;

}  // namespace tarn::internal
