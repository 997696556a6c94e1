#include "central/owners.h"

#include <climits>
#include <new>

#include "central/cached/cached_spans.h"
#include "central/cached/depot.h"
#include "central/private_classes.h"
#include "central/scavenge.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "os/fatal.h"
#include "os/process/processors.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

constexpr unsigned kOrphansTried = 8;
constexpr unsigned kReturnedAtOnce = 1024;  // blocks, about 5 us
constexpr unsigned kMostSteps = 4096;       // at one owner: threads may park as fast as a look returns
// At an owner in a step of a look, which a slow call waits for: some 20 us of slabs' pages.
constexpr unsigned kSlabsAtOnce = 4, kReturnsAtOnce = 2;
constexpr std::size_t kLeastSteps = 64;  // for what is parked

constexpr std::uint32_t kWaitsForAPart = 16;
// What a part of a pool keeps of its free memory, before others make slabs.
constexpr std::size_t kFreeKeptBytes = 4 * kPageBytes;
constexpr std::size_t kFreeKeptShare = 4;

bool is_idle(const SlabOwner& owner) { return owner.slow_calls == owner.slow_calls_at_last_trim; }

Activity look_at(SlabOwner& owner, ReturnedPages& returned) {
  const bool was_idle = is_idle(owner);
  owner.slow_calls_at_last_trim = owner.slow_calls;
  if (owner.looked_at_bytes > owner.slab_bytes)
    owner.looked_at_bytes -= (owner.looked_at_bytes - owner.slab_bytes) / 4;
  if (was_idle) {
    const bool has_pending = owner.pending_count.load(std::memory_order_relaxed) != 0;
    // A thread of another owner may park here while this one is being trimmed.
    const bool is_empty = !has_pending && parked_bytes(owner) == 0 && cached_span_bytes(owner) == 0;
    return owner.is_trimmed && is_empty ? Activity::kIdle : Activity::kIdleAndDue;
  }
  owner.peak_taken_bytes -= bytes_freed_recently(owner) / 4;
  end_spare_slabs(owner, most_spare_bytes(owner), returned);
  look_at_cached_spans(owner, returned);
  look_at_depot(owner);
  owner.is_trimmed = false;
  return Activity::kBusy;
}

/// What may still be done at an owner.
struct Budget {
  unsigned steps, slabs;

  explicit Budget(LookShare share)
      : steps(share == LookShare::kAll ? kMostSteps : kReturnsAtOnce),
        slabs(share == LookShare::kAll ? UINT_MAX : kSlabsAtOnce) {}
  bool is_spent() const { return steps == 0 || slabs == 0; }
};

// Parked blocks return in small steps, since the owner's threads may wait.
template <typename Step>
void return_in_steps(SlabOwner& owner, Budget& budget, Step step) {
  for (bool has_more = true; has_more && budget.steps != 0; budget.steps -= has_more) {
    ReturnedPages returned;
    const GiveBackGuard give_back;
    {
      os::LockGuard guard(owner.mutex);
      has_more = step(returned);
    }
    returned.give_back();
    returned.charge(0);
  }
}

// Ends when a thread of the owner comes back.
void trim_idle_owner(SlabOwner& owner, OwnersTurn& turn, Budget& budget) {
  return_in_steps(owner, budget, [&](ReturnedPages& returned) {
    return is_idle(owner) && limit_parked(owner, 0, kReturnedAtOnce, returned);
  });
  bool is_still_idle = false;
  return_in_steps(owner, budget, [&](ReturnedPages& returned) {
    is_still_idle = is_idle(owner);
    if (is_still_idle && !turn.is_trimmed) trim_locked(owner, TrimDepth::kIdle, returned);
    owner.is_trimmed = turn.is_trimmed = is_still_idle;
    return false;
  });
  if (is_still_idle) scavenge(owner, Scavenged::kAll, budget.slabs, turn.classes_scavenged);
}

void trim_busy_owner(SlabOwner& owner, OwnersTurn& turn, Budget& budget) {
  return_in_steps(owner, budget,
                  [&](ReturnedPages& returned) { return return_surplus(owner, kReturnedAtOnce, returned); });
  scavenge(owner, Scavenged::kQuiet, budget.slabs, turn.classes_scavenged);
}

OwnersTurn begin_look_at(SlabOwner& owner) {
  OwnersTurn turn{.steps_left = kLeastSteps + owner.slab_bytes / (kSlabsAtOnce * kPageBytes)};
  ReturnedPages returned;
  const GiveBackGuard give_back;
  // An owner whose mutex is held is busy, which the turn says already.
  if (owner.mutex.try_lock()) {
    turn.activity = look_at(owner, returned);
    owner.mutex.unlock();
  }
  returned.give_back();
  returned.charge(0);
  if (turn.activity == Activity::kBusy) look_for_quiet(owner);
  return turn;
}

// \returns the slab that was adopted; nullptr when there is none with free blocks. \pre both mutexes are
// held.
Span* adopt_one(SlabOwner& from, SlabOwner& to, SizeClass size_class) {
  // The fullest one of orphans, which nobody uses; of a part of a pool, one that helps for long.
  const List<Span>& available = from.of(size_class).available;
  Span* const slab = from.is_of_pool ? available.last() : available.first();
  if (slab == nullptr || slab == from.scavenged) return nullptr;
  if (from.is_ending.load(std::memory_order_relaxed)) return nullptr;  // its pool walks its slabs
  move_slab(from, to, slab);
  return slab;
}

}  // namespace

namespace {

constinit OwnedClass shared_classes[kBinCount]{};
constinit std::atomic<std::uint8_t> shared_rare_calls[kBinCount]{};

}  // namespace

constinit SlabOwner Owners::shared_{
    .class_count = kBinCount, .classes = shared_classes, .rare_calls = shared_rare_calls};
constinit Owners owners;

// The arrays lie behind the owner. All else is zero at first, and not written: most classes of bins are never
// used.
SlabOwner* Owners::make_record_locked(unsigned class_count, std::size_t bytes_behind) {
  static_assert(sizeof(SlabOwner) % alignof(OwnedClass) == 0);
  TARN_CHECK(class_count <= kBinCount);  // a depot has a bit for each
  auto* const owner = static_cast<SlabOwner*>(
      metadata.allocate_zeroed(sizeof(SlabOwner) + class_count * sizeof(OwnedClass) + bytes_behind));
  if (owner == nullptr) return nullptr;
  new (&owner->mutex) os::MemberMutex<os::LockRank::kOwner>();
  owner->class_count = static_cast<std::uint16_t>(class_count);
  owner->classes = reinterpret_cast<OwnedClass*>(owner + 1);
  owner->next_owner = first_;
  first_ = owner;
  return owner;
}

SlabOwner* Owners::make_of_bins_locked() {
  SlabOwner* const owner = make_record_locked(kBinCount, kBinCount);
  if (owner != nullptr)
    owner->rare_calls = reinterpret_cast<std::atomic<std::uint8_t>*>(owner->classes + kBinCount);
  return owner;
}

SlabOwner* Owners::make_part_locked(SlabOwner& first) {
  SlabOwner* const part = make_for_pool_locked(first.first_class, first.class_count);
  if (part == nullptr) return nullptr;
  part->first_part = &first;
  for (unsigned i = 0; i < first.class_count; ++i) part->geometries[i] = first.geometries[i];
  part->hides_slabs = first.hides_slabs;
  part->keeps_slabs = bool{first.keeps_slabs};
  part->asks_pool = first.asks_pool;
  part->has_counts = first.has_counts;
  part->poisons = first.poisons;
  part->density = first.density;
  part->account = first.account;
  return part;
}

SlabOwner* Owners::make_locked() {
  SlabOwner* const owner = make_of_bins_locked();
  if (owner != nullptr) list_orphan_locked(*owner);
  return owner;
}

SlabOwner* Owners::make_for_pool_locked(SizeClass first, unsigned class_count) {
  SlabOwner* const owner = make_record_locked(class_count, class_count * sizeof(ClassGeometry));
  if (owner == nullptr) return nullptr;
  owner->is_of_pool = true;
  owner->first_class = first;
  owner->first_part = owner;
  owner->geometries = reinterpret_cast<ClassGeometry*>(owner->classes + class_count);
  return owner;
}

void Owners::note_wait(SlabOwner& first_part) {
  if (first_part.has_one_part || first_part.is_ending.load(std::memory_order_relaxed) ||
      ++first_part.waits < kWaitsForAPart)
    return;
  const std::uint32_t others = first_part.others_in_use.load(std::memory_order_relaxed);
  const std::uint32_t most = at_most(SlabOwner::kMostParts, os::processor_count());
  if (others + 1 >= most || others + 1 >= owners_in_use.load(std::memory_order_relaxed)) return;
  if (!mutex_.try_lock()) return;
  if (first_part.others_in_use.load(std::memory_order_relaxed) == others) {
    std::atomic<SlabOwner*>& place = first_part.other_parts[others];
    SlabOwner* part = place.load(std::memory_order_relaxed);  // that a pool before had
    if (part == nullptr) part = make_part_locked(first_part);
    if (part != nullptr) {
      part->kept_limit_bytes = std::size_t{first_part.kept_limit_bytes};
      place.store(part, std::memory_order_release);  // walks over all parts read it too
      first_part.waits = 0;
      first_part.others_in_use.store(others + 1, std::memory_order_release);
    }
  }
  mutex_.unlock();
}

SlabOwner* Owners::sampled(SizeClass size_class) {
  SlabOwner* const of_pool = is_private_class(size_class) ? private_class(size_class).owner : nullptr;
  std::atomic<SlabOwner*>& sampled = of_pool != nullptr ? of_pool->sampled : sampled_;
  if (SlabOwner* const owner = sampled.load(std::memory_order_acquire)) return owner;
  os::LockGuard guard(mutex_);
  if (SlabOwner* const owner = sampled.load(std::memory_order_acquire)) return owner;
  SlabOwner* const owner = of_pool != nullptr ? make_part_locked(*of_pool) : make_of_bins_locked();
  if (owner == nullptr) return nullptr;
  owner->hides_slabs = owner->is_sampled = true;
  sampled.store(owner, std::memory_order_release);
  return owner;
}

void Owners::list_orphan_locked(SlabOwner& owner) {
  orphans_.push_front(&owner);
  owner.is_orphan = true;
  orphan_count_.fetch_add(1, std::memory_order_relaxed);
}

void Owners::begin_use_locked(SlabOwner& owner) {
  if (!owner.is_orphan) return;
  orphans_.remove(&owner);
  owner.is_orphan = false;
  orphan_count_.fetch_sub(1, std::memory_order_relaxed);
  owners_in_use.fetch_add(1, std::memory_order_relaxed);
}

// A thread that shares the owner may have begun or ended meanwhile.
void Owners::end_use_locked(SlabOwner& owner) {
  if (owner.is_orphan || owner.threads.load(std::memory_order_relaxed) != 0) return;
  list_orphan_locked(owner);
  owners_in_use.fetch_sub(1, std::memory_order_relaxed);
}

Span* Owners::adopt_from_orphans(SlabOwner& owner, SizeClass size_class) {
  // Both mutexes are only tried: the caller holds its owner's, which ranks behind one and beside the other,
  // so a wait could be a deadlock. Without an adopted slab the caller makes one.
  if (!mutex_.try_lock()) return nullptr;
  Span* adopted = nullptr;
  unsigned tried = 0;
  for (SlabOwner* orphan = orphans_.first(); orphan != nullptr && adopted == nullptr && tried < kOrphansTried;
       orphan = orphan->next, ++tried) {
    if (!orphan->mutex.try_lock()) continue;
    adopted = adopt_one(*orphan, owner, size_class);
    orphan->mutex.unlock();
  }
  mutex_.unlock();
  return adopted;
}

Span* Owners::adopt_from_parts(SlabOwner& owner, SizeClass size_class) {
  SlabOwner& first = *owner.first_part;
  if (first.others_in_use.load(std::memory_order_relaxed) == 0 || !mutex_.try_lock()) return nullptr;
  Span* adopted = nullptr;
  for_each_part(first, [&](SlabOwner& part) {
    const std::size_t slabs = part.slab_bytes, taken = part.taken_bytes;
    const std::size_t kept =
        slabs / kFreeKeptShare > kFreeKeptBytes ? slabs / kFreeKeptShare : kFreeKeptBytes;
    // A part gives only what it would not keep itself, or two parts would take each other's slabs in turn.
    const bool has_enough_free = slabs >= taken + kept;
    if (adopted != nullptr || &part == &owner || !has_enough_free || !part.mutex.try_lock()) return;
    adopted = adopt_one(part, owner, size_class);
    part.mutex.unlock();
  });
  mutex_.unlock();
  return adopted;
}

bool Owners::adopt_from_any(SlabOwner& owner, SizeClass size_class) {
  bool is_adopted = false;
  for (SlabOwner* other = first(); other != nullptr && !is_adopted; other = other->next_owner) {
    if (other == &owner || other->is_sampled || !other->has_class(size_class)) continue;
    os::LockGuard guard(owner.mutex);
    if (!other->mutex.try_lock()) continue;
    is_adopted = adopt_one(*other, owner, size_class) != nullptr;
    other->mutex.unlock();
  }
  return is_adopted;
}

SlabOwner* Owners::first() {
  os::LockGuard guard(mutex_);
  return first_;
}

bool Owners::end_all_cached_spans() {
  bool were_some = false;
  ReturnedPages returned;
  for (SlabOwner* owner = first(); owner != nullptr; owner = owner->next_owner)
    were_some |= end_cached_spans(*owner, returned);
  return were_some;
}

LookState Owners::trim_idle(LookShare share) {
  constexpr unsigned kIdleOwnersAtOnce = 32;  // of pools there may be thousands
  unsigned looked_at = 0;
  if (!is_at_a_look()) {
    look_ = {.owner = first(), .all_were_idle = true};
    looks_at_owners += 1;
  }
  while (is_at_a_look()) {
    SlabOwner& owner = *look_.owner;
    OwnersTurn& turn = look_.turn;
    if (!look_.has_looked_at) turn = begin_look_at(owner);
    look_.has_looked_at = true;
    look_.all_were_idle &= turn.activity != Activity::kBusy;
    Budget budget(share);
    if (turn.activity == Activity::kIdleAndDue) trim_idle_owner(owner, turn, budget);
    if (turn.activity == Activity::kBusy) trim_busy_owner(owner, turn, budget);
    const bool is_step = share == LookShare::kStep;
    if (is_step && budget.is_spent() && --turn.steps_left != 0) return LookState::kHasMore;
    look_.owner = owner.next_owner;
    look_.has_looked_at = false;
    if (is_step && (turn.activity != Activity::kIdle || ++looked_at == kIdleOwnersAtOnce))
      return LookState::kHasMore;
  }
  return look_.all_were_idle ? LookState::kDoneAllIdle : LookState::kDone;
}

void Owners::trim_all_slabs(TrimDepth depth) {
  // What is parked may be of another owner's slab, and collecting the announcements of one owner may pass
  // some on to another: so all of these come before the first slab is looked at.
  {
    ReturnedPages returned;
    for_each([&](SlabOwner& owner) { limit_parked(owner, 0, UINT_MAX, returned); });
    for_each([&](SlabOwner& owner) { collect_all_pending_locked(owner, returned); });
  }
  for (SlabOwner* owner = first(); owner != nullptr; owner = owner->next_owner) {
    ReturnedPages returned;
    const GiveBackGuard give_back;
    {
      os::LockGuard guard(owner->mutex);
      trim_locked(*owner, depth, returned);
    }
    returned.give_back();
  }
}

std::size_t Owners::trim_all() {
  trim_all_slabs(TrimDepth::kAll);
  std::size_t purged = 0;
  for (SlabOwner* owner = first(); owner != nullptr; owner = owner->next_owner) {
    unsigned most = UINT_MAX, classes_done = 0;
    purged += scavenge(*owner, Scavenged::kAll, most, classes_done);
  }
  return purged;
}

void Owners::validate() {
  os::LockGuard guard(mutex_);
  std::uint32_t orphans = 0, others = 0;
  for (const SlabOwner* owner = first_; owner != nullptr; owner = owner->next_owner)
    if (owner != &shared_ && !owner->is_sampled && !owner->is_of_pool)
      ++(owner->is_orphan ? orphans : others);
  TARN_CHECK(orphans == orphan_count_.load() && others == owners_in_use.load());
  for (const SlabOwner* orphan = orphans_.first(); orphan != nullptr; orphan = orphan->next, --orphans)
    TARN_CHECK(orphan->is_orphan && orphan->threads.load() == 0);
  TARN_CHECK(orphans == 0);
}

void Owners::visit_for_fork(os::ForkSet::Visit visit) {
  for (SlabOwner* owner = first_; owner != nullptr; owner = owner->next_owner) visit(owner->mutex);
}

}  // namespace tarn::internal
