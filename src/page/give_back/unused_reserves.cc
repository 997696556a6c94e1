#include "page/give_back/unused_reserves.h"

#include "os/locks/lock_rank.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/live_map.h"
#include "page/spans/page_map.h"

namespace tarn::internal {
namespace {

/// Waits for a mutex, but gives up when its holder does not exist in this process.
class PatientLock {
 public:
  explicit PatientLock(os::Mutex& mutex) : mutex_(mutex) {
    constexpr std::uint64_t kPatienceMs = 200;
    const std::uint64_t end = os::clock_ms() + kPatienceMs;
    while (!(is_held_ = mutex.try_lock()) && os::clock_ms() < end) os::let_others_run();
  }
  ~PatientLock() {
    if (is_held_) mutex_.unlock();
  }
  PatientLock(const PatientLock&) = delete;
  PatientLock& operator=(const PatientLock&) = delete;
  bool is_held() const { return is_held_; }

 private:
  os::Mutex& mutex_;
  bool is_held_ = false;
};

// Of the first region, as far as its maps of live bytes may still be needed; SIZE_MAX while there is none.
std::size_t first_region_bytes(bool as_committed) {
  if (page_map.region_count() == 0) return SIZE_MAX;
  const Region& region = page_map.region(0);
  return as_committed ? std::size_t{region.committed_chunks} << kChunkShift : region.bytes.load();
}

/// Holds every lock under which a reserve is used, but for those of live bytes.
struct AllLocks {
  PatientLock growth{os::global_mutex<os::LockRank::kPageGrowth>()};
  PatientLock pages{os::global_mutex<os::LockRank::kPageCache>()};
  PatientLock records{os::global_mutex<os::LockRank::kMetadata>()};
  bool are_held() const { return growth.is_held() && pages.is_held() && records.is_held(); }
};

}  // namespace

std::size_t unused_reserve_bytes() {
  const AllLocks locks;
  if (!locks.are_held()) return 0;
  return page_cache.uncommitted_bytes_locked() + metadata.unused_bytes_locked() +
         live_map.bytes_beyond(first_region_bytes(true));
}

std::size_t release_unused_reserves() {
  std::size_t bytes = 0;
  {
    const AllLocks locks;
    if (locks.are_held()) bytes = page_cache.release_tails_locked() + metadata.release_tail_locked();
  }
  const PatientLock lock(os::global_mutex<os::LockRank::kLiveMap>());
  return lock.is_held() ? bytes + live_map.release_beyond_locked(first_region_bytes(false)) : bytes;
}

}  // namespace tarn::internal
