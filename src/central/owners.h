// All owners of slabs: those of threads, the shared one for threads without an owner, the orphans (other
// owners adopt their slabs), and those of pools.
//
// Invariant, with mutex() held: an owner is in the list of orphans exactly when is_orphan; an orphan has no
// thread; orphan_count counts the orphans, and owners_in_use all other owners of threads but the shared one.
// Synchronisation: `mutex` guards the lists; it ranks below the owners' own mutexes. Owners are only ever
// added, at the front, so a walk over all owners needs the mutex only to read the head.
#pragma once
#include <atomic>
#include <cstddef>

#include "central/slabs/slab_owner.h"
#include "central/trim.h"
#include "page/give_back/background.h"

namespace tarn::internal {

/// The result of a look at an owner, which is idle when its threads had no slow call since the last look.
enum class Activity : std::uint8_t { kBusy, kIdle, kIdleAndDue };

/// What a look has done at an owner, and may still do: others can bring it work for as long as they like.
struct OwnersTurn {
  Activity activity = Activity::kBusy;
  bool is_trimmed = false;
  unsigned classes_scavenged = 0;
  std::size_t steps_left = 0;
};

class Owners {
 public:
  /// Serves threads that have ended or call rarely: an orphan, but no owner adopts its slabs.
  SlabOwner& shared() { return shared_; }

  /// \returns the owner of the slabs of sampled blocks of a class: another one for each pool. It is made when
  /// it is first asked for; nullptr when memory is refused. \pre no lock is held.
  SlabOwner* sampled(SizeClass size_class);

  os::Mutex& mutex() { return mutex_; }

  /// Makes an owner of threads, at first an orphan. \returns nullptr when memory is refused. \pre mutex() is
  /// held.
  SlabOwner* make_locked();
  /// Makes an owner of a pool with the classes from `first` on. \returns nullptr when memory is refused.
  /// \pre mutex() is held.
  SlabOwner* make_for_pool_locked(SizeClass first, unsigned class_count);

  /// Call before a thread begins to use an owner: it is no orphan from then on. \pre mutex() is held.
  void begin_use_locked(SlabOwner& owner);
  /// Call after a thread has ended its use: an owner without a thread becomes an orphan. \pre mutex() is
  /// held.
  void end_use_locked(SlabOwner& owner);

  /// Adopts a slab of an orphan, or of a part of the pool that has much free: `owner` then owns, counts and
  /// lists it; nullptr if none is ready at once. \pre owner.mutex is held. \cost a load when there is no
  /// orphan.
  Span* adopt_slab(SlabOwner& owner, SizeClass size_class) {
    if (owner.is_sampled) return nullptr;
    if (owner.is_of_pool) return adopt_from_parts(owner, size_class);
    return orphan_count_.load(std::memory_order_relaxed) == 0 ? nullptr
                                                              : adopt_from_orphans(owner, size_class);
  }

  /// Call when a thread waits for a part of a pool: after some waits the pool gets one more, if there are as
  /// many owners of threads, and processors.
  void note_wait(SlabOwner& first_part);

  /// Adopts a slab with free blocks of any owner that has the class and is not busy: call when memory was
  /// refused. \returns whether there was one. \pre no lock is held.
  bool adopt_from_any(SlabOwner& owner, SizeClass size_class);

  /// Frees the cached spans of all owners: call when memory was refused. \returns whether there were some.
  /// \pre no lock is held.
  bool end_all_cached_spans();

  /// A look at all owners, or a step of it: trims those that had no slow call since the last look, which
  /// gives back their empty slabs, and free pages inside other slabs. \pre the caller alone looks.
  LookState trim_idle(LookShare share);
  /// Whether a step has begun a look that is not done. \pre the caller alone looks.
  bool is_at_a_look() const { return look_.owner != nullptr; }

  /// Trims all owners, but gives back nothing from inside slabs with live blocks.
  void trim_all_slabs(TrimDepth depth);
  /// Trims all owners. \returns bytes given back from inside slabs.
  std::size_t trim_all();

  /// Calls visit(owner) for each owner with its mutex held. No slab changes its owner meanwhile.
  template <typename Visit>
  void for_each(Visit visit) {
    os::LockGuard guard(mutex_);
    for_each_locked(visit);
  }
  /// \pre mutex() is held. The shared owner comes last: what others collect may pass announcements on to it.
  template <typename Visit>
  void for_each_locked(Visit visit) {
    for (SlabOwner* owner = first_; owner != nullptr; owner = owner->next_owner) {
      os::LockGuard guard(owner->mutex);
      visit(*owner);
    }
  }

  /// Calls visit(owner) for each owner. \pre mutex() and the mutexes of all owners are held.
  template <typename Visit>
  void for_each_held(Visit visit) const {
    for (const SlabOwner* owner = first_; owner != nullptr; owner = owner->next_owner) visit(*owner);
  }

  /// Calls visit for the mutex of each owner. \pre a fork has locked mutex().
  void visit_for_fork(os::ForkSet::Visit visit);

  /// Stops the process when the lists and their counts disagree.
  void validate();

 private:
  friend class ObservedLayout;

  SlabOwner* first();
  SlabOwner* make_record_locked(unsigned class_count, std::size_t bytes_behind);
  SlabOwner* make_of_bins_locked();
  SlabOwner* make_part_locked(SlabOwner& first);
  void list_orphan_locked(SlabOwner& owner);
  Span* adopt_from_orphans(SlabOwner& owner, SizeClass size_class);
  Span* adopt_from_parts(SlabOwner& owner, SizeClass size_class);

  /// How far a look has come. Of who looks.
  struct Look {
    SlabOwner* owner = nullptr;  // whose turn it is; nullptr: of none
    bool all_were_idle = false;
    bool has_looked_at = false;  // at this owner: what is left is to give back
    OwnersTurn turn{};
  };

  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kThreads>();
  static constinit SlabOwner shared_;  // apart, so that a program's start writes no page of it
  SlabOwner* first_ = &shared_;
  std::atomic<SlabOwner*> sampled_{nullptr};  // of bins; neither an orphan nor in use
  List<SlabOwner> orphans_;
  std::atomic<std::uint32_t> orphan_count_{0};
  Look look_;
};

extern Owners owners;

}  // namespace tarn::internal
