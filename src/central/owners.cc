#include "central/owners.h"

#include <new>

#include "central/class_slabs.h"
#include "central/remote_free.h"
#include "central/scavenge.h"
#include "central/trim.h"
#include "os/fatal.h"
#include "os/helper_thread.h"
#include "page/metadata.h"
#include "page/page_cache.h"

namespace tarn::internal {
namespace {

constexpr unsigned kOrphansTried = 8;

/// The result of a look at an owner.
enum class Activity : std::uint8_t { kBusy, kIdle, kIdleAndDue };

// An owner is idle when its thread had no slow call since the last look.
Activity look_at(SlabOwner& owner, ReturnedPages& returned) {
  const bool is_idle = owner.slow_calls == owner.slow_calls_at_last_trim;
  owner.slow_calls_at_last_trim = owner.slow_calls;
  if (owner.looked_at_bytes > owner.slab_bytes)
    owner.looked_at_bytes -= (owner.looked_at_bytes - owner.slab_bytes) / 4;
  if (is_idle) {
    const bool has_pending = owner.pending_count.load(std::memory_order_relaxed) != 0;
    return owner.is_trimmed && !has_pending ? Activity::kIdle : Activity::kIdleAndDue;
  }
  owner.peak_taken_bytes -= bytes_freed_of_late(owner) / 4;
  end_spare_slabs(owner, most_spare_bytes(owner), returned);
  owner.is_trimmed = false;
  return Activity::kBusy;
}

}  // namespace

constinit Owners owners;

SlabOwner* Owners::make_locked() {
  void* const record = metadata.allocate(sizeof(SlabOwner));
  if (record == nullptr) return nullptr;
  auto* const owner = new (record) SlabOwner{};
  owner->next_owner = first_;
  first_ = owner;
  return owner;
}

void Owners::begin_use_locked(SlabOwner& owner) {
  if (owner.is_orphan) {
    orphans_.remove(&owner);
    owner.is_orphan = false;
    orphan_count_.fetch_sub(1, std::memory_order_relaxed);
  }
  const std::uint32_t now = owners_in_use.fetch_add(1, std::memory_order_relaxed) + 1;
  if (now > peak_threads_.load(std::memory_order_relaxed))
    peak_threads_.store(now, std::memory_order_relaxed);
}

void Owners::end_use_locked(SlabOwner& owner) {
  orphans_.push_front(&owner);
  owner.is_orphan = true;
  orphan_count_.fetch_add(1, std::memory_order_relaxed);
  owners_in_use.fetch_sub(1, std::memory_order_relaxed);
}

Span* Owners::adopt_from_orphans(SlabOwner& owner, SizeClass size_class) {
  if (!mutex_.try_lock()) return nullptr;
  Span* adopted = nullptr;
  unsigned tried = 0;
  for (SlabOwner* orphan = orphans_.first(); orphan != nullptr && adopted == nullptr && tried < kOrphansTried;
       orphan = orphan->next, ++tried) {
    if (!orphan->mutex.try_lock()) continue;
    adopted = orphan->available[size_class].first();
    if (adopted != nullptr) move_slab(*orphan, owner, adopted);
    orphan->mutex.unlock();
  }
  mutex_.unlock();
  return adopted;
}

SlabOwner* Owners::first() {
  os::LockGuard guard(mutex_);
  return first_;
}

bool Owners::trim_idle() {
  bool all_were_idle = true;
  for (SlabOwner* owner = first(); owner != nullptr; owner = owner->next_owner) {
    if (os::helper_must_stop()) return false;
    Activity activity = Activity::kBusy;
    ReturnedPages returned;
    {
      const GiveBackGuard give_back;
      if (owner->mutex.try_lock()) {
        activity = look_at(*owner, returned);
        if (activity == Activity::kIdleAndDue) trim_locked(*owner, TrimDepth::kIdle, returned);
        owner->is_trimmed = activity != Activity::kBusy;
        owner->mutex.unlock();
      }
      returned.give_back();
    }
    if (activity == Activity::kBusy) all_were_idle = false;
    if (activity == Activity::kIdleAndDue) scavenge(*owner);
  }
  return all_were_idle;
}

std::size_t Owners::trim_all() {
  std::size_t purged = 0;
  // First collect all announcements: collecting those of one owner may pass some on to another owner.
  {
    ReturnedPages returned;
    for_each([&](SlabOwner& owner) { collect_all_pending_locked(owner, returned); });
  }
  for (SlabOwner* owner = first(); owner != nullptr; owner = owner->next_owner) {
    ReturnedPages returned;
    {
      const GiveBackGuard give_back;
      {
        os::LockGuard guard(owner->mutex);
        trim_locked(*owner, TrimDepth::kAll, returned);
      }
      returned.give_back();
    }
    purged += scavenge(*owner);
  }
  return purged;
}

void Owners::validate() {
  os::LockGuard guard(mutex_);
  std::uint32_t orphans = 0, others = 0;
  for (const SlabOwner* owner = first_; owner != nullptr; owner = owner->next_owner)
    if (owner != &shared_) ++(owner->is_orphan ? orphans : others);
  TARN_CHECK(orphans == orphan_count_.load() && others == owners_in_use.load());
  for (const SlabOwner* orphan = orphans_.first(); orphan != nullptr; orphan = orphan->next, --orphans)
    TARN_CHECK(orphan->is_orphan && !orphan->has_thread.load());
  TARN_CHECK(orphans == 0);
}

void Owners::visit_for_fork(os::ForkSet::Visit visit) {
  for (SlabOwner* owner = first_; owner != nullptr; owner = owner->next_owner) visit(owner->mutex);
}

}  // namespace tarn::internal
