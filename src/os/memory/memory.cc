#include "os/memory/memory.h"

#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>

#include "base/units.h"
#include "os/checker.h"
#include "os/locks/held_locks.h"
#include "os/memory/growth_watch.h"
#include "os/memory/reserves.h"
#include "os/process/process.h"
#include "os/syscall.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace tarn::internal::os {
namespace {

// A thread that is given addresses which another thread has unmapped comes after that thread's last access of
// them. By this count the language's memory model, and ThreadSanitizer with it, knows what the kernel orders.
constinit std::atomic<std::uint32_t> unmaps{0};

// \param answer the kernel's, of a call that chose addresses. \returns nullptr when it refused.
char* mapped_at(long answer) {
  unmaps.load(std::memory_order_acquire);
  return answer < 0 && answer > -4096 ? nullptr : reinterpret_cast<char*>(answer);
}

char* map_anonymous(std::size_t bytes, int protection, int flags = 0, std::uintptr_t hint = 0) {
  return mapped_at(syscall6(SYS_mmap, static_cast<long>(hint), to_long(bytes), protection,
                            MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0));
}

void unmap(const char* start, const char* end) {
  if (start == end) return;
  unmaps.fetch_add(1, std::memory_order_release);
  syscall6(SYS_munmap, to_long(start), end - start);
}

bool protect(const void* start, std::size_t bytes, int protection) {
  return syscall6(SYS_mprotect, to_long(start), to_long(bytes), protection) == 0;
}

bool advise(const void* start, std::size_t bytes, int advice) {
  if (makes_common_calls_only()) return false;
  return syscall6(SYS_madvise, to_long(start), to_long(bytes), advice) == 0;
}

/// \returns the bytes to map for `bytes` between two guards, wherever the map begins.
std::size_t with_guards(std::size_t bytes, std::size_t alignment) {
  return bytes + 2 * kGuardBytes + (alignment == 1 ? 0 : alignment);
}

/// Unmaps the surplus of a map of with_guards(bytes, alignment). \returns the start of the bytes, or
/// nullptr.
char* place_between_guards(char* first, std::size_t bytes, std::size_t alignment) {
  if (first == nullptr) return nullptr;
  char* const start = reinterpret_cast<char*>(round_up(address_of(first) + kGuardBytes, alignment));
  unmap(first, start - kGuardBytes);
  unmap(start + bytes + kGuardBytes, first + with_guards(bytes, alignment));
  return start;
}

void advise_to_end(void* start, int advice) {
  if (const Reserve* const reserve = reserve_of(start); reserve != nullptr)
    advise(start, reserve->end.load(std::memory_order_relaxed) + kGuardBytes - address_of(start), advice);
}

// A child does not inherit a memory lock, but it inherits the memory of this variable.
constinit std::atomic<Lock> lock_of_commits{Lock::kNone};
constinit std::atomic<std::uint32_t> locking_process{0};

// Under mlockall, new areas are locked, and all their bytes count against RLIMIT_MEMLOCK; an area that was
// unlocked stays so when it grows.
char* map_unlocked(std::size_t bytes, std::uintptr_t hint) {
  if (commit_lock() == Lock::kNone) return map_anonymous(bytes, PROT_NONE, 0, hint);
  constexpr std::size_t kSmall = 4096;
  char* const small = map_anonymous(kSmall, PROT_NONE);
  if (small == nullptr) return nullptr;
  syscall6(SYS_munlock, to_long(small), kSmall);
  char* const grown = mapped_at(syscall6(SYS_mremap, to_long(small), kSmall, to_long(bytes), MREMAP_MAYMOVE));
  if (grown == nullptr) unmap(small, small + kSmall);
  return grown;
}

/// Replaces mapped addresses by new ones that were never written.
bool map_anew(const void* start, std::size_t bytes, int protection) {
  return syscall6(SYS_mmap, to_long(start), to_long(bytes), protection,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == to_long(start);
}

/// \why not mprotect where a new map does: memcheck would take a note of each byte, for the page map's index
/// seven seconds and 1 GiB. But new maps may be locked.
bool make_readable(const void* start, std::size_t bytes) {
  return commit_lock() == Lock::kNone ? map_anew(start, bytes, PROT_READ) : protect(start, bytes, PROT_READ);
}

char* map_reserve(std::size_t bytes, std::size_t alignment, std::uintptr_t hint = 0) {
  if (must_fail(Call::kReserve)) return nullptr;
  return place_between_guards(map_unlocked(with_guards(bytes, alignment), hint), bytes, alignment);
}

// \returns 0: the kernel's place is to serve. The sanitizers know only some addresses.
std::uintptr_t draw_place(std::size_t alignment) {
  if (!is_placed_at_random() || has_sanitizer()) return 0;
  constexpr std::uintptr_t kFirst = std::uintptr_t{1} << 44, kBytes = (std::uintptr_t{1} << 47) - 2 * kFirst;
  const std::uint64_t drawn = folded(process_secret(0) + count_of_reserves(), process_secret(1));
  return ((kFirst + drawn % kBytes) & ~(alignment - 1)) - kGuardBytes;
}

// \param start nullptr: it was refused. \returns it.
char* begin_reserve(char* start, std::size_t bytes) {
  if (start == nullptr) return nullptr;
  leave_out_of_dumps(start - kGuardBytes, bytes + 2 * kGuardBytes);
  enter_reserve(start, bytes);
  return start;
}

// A committed range joins the committed area before it only when dumps treat both alike; for a moment it is
// an area of its own. If the kernel has no area left, all of it stays out of dumps, so that memory can still
// be had.
void dump_committed(const void* start, std::size_t bytes) {
  if (!must_fail(Call::kDump) && advise(start, bytes, MADV_DODUMP)) return;
  const Reserve* const reserve = reserve_of(start);
  if (reserve == nullptr) return;
  const std::uintptr_t first = reserve->start.load(std::memory_order_relaxed);
  advise(reinterpret_cast<void*>(first), address_of(start) - first, MADV_DONTDUMP);
}

bool discard(const void* start, std::size_t bytes, Fault fault) {
  if (fault == Fault::kWithoutEffect) return true;
  if (makes_common_calls_only()) return map_anew(start, bytes, PROT_READ | PROT_WRITE);
  return advise(start, bytes, MADV_DONTNEED);
}

enum class PurgeEffect : std::uint8_t { kUnknown, kZeroes, kNothing };
constinit std::atomic<PurgeEffect> purge_effect{PurgeEffect::kUnknown};

// Some emulators accept the advice and do nothing: then purged memory would wrongly be taken for zeroed.
PurgeEffect try_purge(Fault fault) {
  char* const page = map_anonymous(1, PROT_READ | PROT_WRITE);
  if (page == nullptr) return PurgeEffect::kUnknown;
  volatile char* const probe = page;
  *probe = 1;
  const bool is_accepted = discard(page, 1, fault);
  const PurgeEffect effect = *probe == 0 ? PurgeEffect::kZeroes : PurgeEffect::kNothing;
  unmap(page, page + 1);
  return is_accepted ? effect : PurgeEffect::kUnknown;
}

bool purge_zeroes(Fault fault) {
  PurgeEffect effect = purge_effect.load(std::memory_order_relaxed);
  if (effect == PurgeEffect::kUnknown)
    purge_effect.store(effect = try_purge(fault), std::memory_order_relaxed);
  return effect == PurgeEffect::kZeroes;
}

}  // namespace

constinit std::atomic<GrowthWatcher> growth_watcher{nullptr};

void* reserve(std::size_t bytes, std::size_t alignment) {
  return begin_reserve(map_reserve(bytes, alignment), bytes);
}

void* reserve_anywhere(std::size_t bytes, std::size_t alignment) {
  return begin_reserve(map_reserve(bytes, alignment, draw_place(alignment)), bytes);
}

void* reserve_readable(std::size_t bytes) {
  char* const start = map_reserve(bytes, 1);
  if (start == nullptr) return nullptr;
  if (!make_readable(start, bytes)) {
    unmap(start - kGuardBytes, start + bytes + kGuardBytes);
    return nullptr;
  }
  return begin_reserve(start, bytes);
}

void* map(std::size_t bytes) {
  if (must_fail(Call::kMap)) return nullptr;
  char* const start =
      place_between_guards(map_anonymous(with_guards(bytes, 1), PROT_NONE, MAP_NORESERVE), bytes, 1);
  if (start == nullptr || protect(start, bytes, PROT_READ | PROT_WRITE)) return start;
  unmap(start - kGuardBytes, start + bytes + kGuardBytes);
  return nullptr;
}

bool commit(void* start, std::size_t bytes) {
  if (must_fail(Call::kCommit)) return false;
  dump_committed(start, bytes);
  const Lock lock = commit_lock();
  // Locked before they are usable, so that a refusal changes nothing.
  if (lock != Lock::kNone && !lock_memory(start, bytes, Lock::kOnFault)) return false;
  if (!protect(start, bytes, PROT_READ | PROT_WRITE)) return false;
  if (lock == Lock::kNow) lock_memory(start, bytes, Lock::kNow);
  return true;
}

void make_guard(void* start, std::size_t bytes) { protect(start, bytes, PROT_NONE); }
bool end_guard(void* start, std::size_t bytes) {
  if (!protect(start, bytes, PROT_READ | PROT_WRITE)) return false;
  // What could not be touched was left out when all memory was locked.
  if (const Lock lock = commit_lock(); lock != Lock::kNone) lock_memory(start, bytes, lock);
  return true;
}

void make_read_only(void* start, std::size_t bytes) { protect(start, bytes, PROT_READ); }

bool purge(void* start, std::size_t bytes) {
  check_no_lock_is_held("while memory is given back");
  const Fault fault = fault_of(Call::kPurge);
  if (fault == Fault::kRefused || !purge_zeroes(fault)) return false;
  return discard(start, bytes, fault);
}

void leave_out_of_dumps(void* start, std::size_t bytes) {
  if (!must_fail(Call::kDump)) advise(start, bytes, MADV_DONTDUMP);
}
void include_in_dumps(void* start, std::size_t bytes) {
  if (!must_fail(Call::kDump)) advise(start, bytes, MADV_DODUMP);
}

void release(void* start, std::size_t bytes) {
  check_no_lock_is_held("while memory is given back");
  undo_reserve(start, bytes);
}

void undo_reserve(void* start, std::size_t bytes) {
  forget_reserve(start);
  char* const first = static_cast<char*>(start);
  unmap(first - kGuardBytes, first + bytes + kGuardBytes);
}

std::size_t release_tail(void* start) {
  Reserve* const reserve = reserve_of(start);
  if (reserve == nullptr) return 0;
  const std::size_t bytes = reserve->end.load(std::memory_order_relaxed) - address_of(start);
  // The guard behind the reserve moves down to `start`.
  reserve->end.store(address_of(start), std::memory_order_relaxed);
  char* const guard = static_cast<char*>(start);
  unmap(guard + kGuardBytes, guard + bytes + kGuardBytes);
  return bytes;
}

void advise_huge(void* start, std::size_t bytes) { advise(start, bytes, MADV_HUGEPAGE); }
void advise_small(void* start, std::size_t bytes) { advise(start, bytes, MADV_NOHUGEPAGE); }

void advise_huge_to_end(void* start) { advise_to_end(start, MADV_HUGEPAGE); }
void advise_small_to_end(void* start) { advise_to_end(start, MADV_NOHUGEPAGE); }

// Kernels before Linux 5.14 do not know it, and a filter may refuse it: these are asked once.
bool populate(void* start, std::size_t bytes) {
  static constinit std::atomic<bool> is_refused{false};
  if (makes_common_calls_only() || is_refused.load(std::memory_order_relaxed)) return false;
  const auto is_known = [](long result) { return result == 0 || result == -ENOMEM || result == -EFAULT; };
  const long result = syscall6(SYS_madvise, to_long(start), to_long(bytes), MADV_POPULATE_WRITE);
  if (!is_known(result) && !is_known(syscall6(SYS_madvise, to_long(start), 0, MADV_POPULATE_WRITE)))
    is_refused.store(true, std::memory_order_relaxed);
  return result == 0;
}

bool move_pages(void* from, void* to, std::size_t bytes) {
  if (must_fail(Call::kMove) || makes_common_calls_only()) return false;
  if (commit_lock() != Lock::kNone) return false;  // `from` would lose its lock
  const long answer = syscall6(SYS_mremap, to_long(from), to_long(bytes), to_long(bytes),
                               MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to_long(to));
  if (answer == to_long(to)) return true;
  // Kernels up to 6.16 unmap the destination before they notice that they cannot move.
  map_anew(to, bytes, PROT_READ | PROT_WRITE);
  return false;
}

bool lock_memory(void* start, std::size_t bytes, Lock lock) {
  if (must_fail(Call::kLock)) return false;
  return syscall6(SYS_mlock2, to_long(start), to_long(bytes), lock == Lock::kOnFault ? MLOCK_ONFAULT : 0) ==
         0;
}

void lock_commits(Lock lock) {
  locking_process.store(process_id(), std::memory_order_relaxed);
  lock_of_commits.store(lock, std::memory_order_release);
}

Lock commit_lock() {
  const Lock lock = lock_of_commits.load(std::memory_order_acquire);
  if (lock == Lock::kNone || locking_process.load(std::memory_order_relaxed) == process_id()) return lock;
  return Lock::kNone;
}

AddressRange next_reserve(std::uintptr_t address) {
  AddressRange first{SIZE_MAX, SIZE_MAX};
  for_each_reserve([&](std::uintptr_t start, std::uintptr_t end) {
    const AddressRange range{start - kGuardBytes, end + kGuardBytes};
    if (range.end > address && range.start < first.start) first = range;
    return false;
  });
  return first;
}

std::size_t address_space_limit() {
  constinit static std::atomic<std::size_t> last{SIZE_MAX};
  struct rlimit limit;
  if (makes_common_calls_only()) return last.load(std::memory_order_relaxed);
  if (syscall6(SYS_prlimit64, 0, RLIMIT_AS, 0, to_long(&limit)) != 0) return SIZE_MAX;
  const std::size_t now =
      limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : static_cast<std::size_t>(limit.rlim_cur);
  last.store(now, std::memory_order_relaxed);
  return now;
}

void set_fault_hook_for_test(FaultHook hook) { fault_hook.store(hook, std::memory_order_relaxed); }

}  // namespace tarn::internal::os
