// Reserves and their pages by VirtualAlloc.
//
// A reserve can only be released as a whole: what an alignment leaves over stays with it, and no tail is
// released. Windows has no pages that read as zero before they are committed: the first read of one of a
// readable reserve commits it, in a handler of the fault. The same handler lets a read wait that comes while
// pages are purged, since a purge decommits and commits them: in between they are not there.
//
// What Windows lacks stays undone here: dumps that leave memory out, moved pages, advice about huge pages,
// locked commits.
#include "os/memory/memory.h"

#include <algorithm>
#include <atomic>

#include "base/units.h"
#include "os/fatal.h"
#include "os/locks/held_locks.h"
#include "os/memory/available_memory.h"
#include "os/memory/growth_watch.h"
#include "os/memory/reserves.h"
#include "os/process/process.h"
#include "os/windows/system.h"

namespace tarn::internal::os {
namespace {

// Changes of pages that other threads may read: many purge at once, a readable reserve changes alone.
constinit SRWLOCK changing_pages = SRWLOCK_INIT;
constinit std::atomic<bool> readable[kMostReserves] = {};

bool is_readable_reserve(const Reserve* reserve) {
  return reserve != nullptr && readable[reserve - reserves].load(std::memory_order_acquire);
}

char* take_addresses(std::size_t bytes, std::size_t alignment) {
  const std::size_t surplus = alignment > kGuardBytes ? alignment : 0;
  auto* const first = static_cast<char*>(
      VirtualAlloc(nullptr, bytes + 2 * kGuardBytes + surplus, MEM_RESERVE, PAGE_NOACCESS));
  if (first == nullptr) return nullptr;
  return reinterpret_cast<char*>(round_up(address_of(first) + kGuardBytes, alignment));
}

bool commit_pages(void* start, std::size_t bytes) {
  return VirtualAlloc(start, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

bool protect(void* start, std::size_t bytes, DWORD protection) {
  DWORD before = 0;
  return VirtualProtect(start, bytes, protection, &before) != 0;
}

void give_addresses_back(void* start) {
  MEMORY_BASIC_INFORMATION area{};
  if (VirtualQuery(start, &area, sizeof area) != 0) VirtualFree(area.AllocationBase, 0, MEM_RELEASE);
}

// \returns whether the access that has failed may be tried again.
bool can_access_now(void* address, bool is_write) {
  MEMORY_BASIC_INFORMATION area{};
  if (VirtualQuery(address, &area, sizeof area) == 0 || area.State != MEM_COMMIT) return false;
  return area.Protect == PAGE_READWRITE || (area.Protect == PAGE_READONLY && !is_write);
}

// \pre the lock is held alone.
bool commit_to_read(const Reserve& reserve, std::uintptr_t address) {
  constexpr std::size_t kPieceBytes = 64 * 1024;
  auto* const page = reinterpret_cast<void*>(address & ~(page_bytes() - 1));
  MEMORY_BASIC_INFORMATION area{};
  if (VirtualQuery(page, &area, sizeof area) == 0 || area.State != MEM_RESERVE) return false;
  const std::size_t rest = reserve.end.load(std::memory_order_relaxed) - address_of(page);
  const std::size_t bytes = std::min({area.RegionSize, rest, kPieceBytes});
  return VirtualAlloc(page, bytes, MEM_COMMIT, PAGE_READONLY) != nullptr;
}

// The pages may have come, or come back, before the lock was taken.
LONG WINAPI on_fault(EXCEPTION_POINTERS* exception) {
  constexpr ULONG_PTR kWrite = 1, kExecute = 8;
  const EXCEPTION_RECORD& fault = *exception->ExceptionRecord;
  if (fault.ExceptionCode != EXCEPTION_ACCESS_VIOLATION || fault.NumberParameters < 2 ||
      fault.ExceptionInformation[0] == kExecute)
    return EXCEPTION_CONTINUE_SEARCH;
  const bool is_write = fault.ExceptionInformation[0] == kWrite;
  auto* const address = reinterpret_cast<void*>(fault.ExceptionInformation[1]);
  const Reserve* const reserve = reserve_of(address);
  if (reserve == nullptr) return EXCEPTION_CONTINUE_SEARCH;
  AcquireSRWLockExclusive(&changing_pages);
  const bool is_usable = can_access_now(address, is_write) || (!is_write && is_readable_reserve(reserve) &&
                                                               commit_to_read(*reserve, address_of(address)));
  ReleaseSRWLockExclusive(&changing_pages);
  return is_usable ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

void watch_reads() {
  static constinit std::atomic<bool> is_watching{false};
  if (!is_watching.exchange(true)) AddVectoredExceptionHandler(1, on_fault);
}

// Both at the system's limit of memory and below a job's, the pages were there a moment before.
void commit_again(void* start, std::size_t bytes) {
  constexpr unsigned kLooks = 1000;
  for (unsigned looks = 0; !commit_pages(start, bytes); ++looks) {
    if (looks == kLooks) fatal("the system gives no memory for pages that were purged", start);
    Sleep(1);
  }
}

}  // namespace

constinit std::atomic<GrowthWatcher> growth_watcher{nullptr};

void* reserve(std::size_t bytes, std::size_t alignment) {
  if (must_fail(Call::kReserve)) return nullptr;
  watch_reads();
  char* const start = take_addresses(bytes, alignment);
  if (start != nullptr) enter_reserve(start, bytes);
  return start;
}

// The system draws the place of each.
void* reserve_anywhere(std::size_t bytes, std::size_t alignment) { return reserve(bytes, alignment); }

void* reserve_readable(std::size_t bytes) {
  void* const start = reserve(bytes, 1);
  if (start == nullptr) return nullptr;
  const Reserve* const entry = reserve_of(start);
  if (entry == nullptr) return give_addresses_back(start), nullptr;
  readable[entry - reserves].store(true, std::memory_order_release);
  return start;
}

void* map(std::size_t bytes) {
  if (must_fail(Call::kMap)) return nullptr;
  char* const start = take_addresses(bytes, 1);
  if (start == nullptr || commit_pages(start, bytes)) return start;
  give_addresses_back(start);
  return nullptr;
}

// Pages that are committed already may be read-only, of a readable reserve, or a guard.
bool commit(void* start, std::size_t bytes) {
  if (must_fail(Call::kCommit)) return false;
  const bool is_readable = is_readable_reserve(reserve_of(start));
  if (is_readable) AcquireSRWLockExclusive(&changing_pages);
  const bool is_committed = commit_pages(start, bytes) && protect(start, bytes, PAGE_READWRITE);
  if (is_readable) ReleaseSRWLockExclusive(&changing_pages);
  return is_committed;
}

void make_guard(void* start, std::size_t bytes) { protect(start, bytes, PAGE_NOACCESS); }
bool end_guard(void* start, std::size_t bytes) { return protect(start, bytes, PAGE_READWRITE); }
void make_read_only(void* start, std::size_t bytes) { protect(start, bytes, PAGE_READONLY); }

// \why not MEM_RESET: what is reset may be there as it was, and need not read as zero.
bool purge(void* start, std::size_t bytes) {
  check_no_lock_is_held("while memory is given back");
  const Fault fault = fault_of(Call::kPurge);
  if (fault != Fault::kNone) return false;
  AcquireSRWLockShared(&changing_pages);
  const bool is_gone = VirtualFree(start, bytes, MEM_DECOMMIT) != 0;
  if (is_gone) commit_again(start, bytes);
  ReleaseSRWLockShared(&changing_pages);
  return is_gone;
}

void release(void* start, std::size_t bytes) {
  check_no_lock_is_held("while memory is given back");
  undo_reserve(start, bytes);
}

void undo_reserve(void* start, std::size_t) {
  if (const Reserve* const entry = reserve_of(start); entry != nullptr)
    readable[entry - reserves].store(false, std::memory_order_release);
  forget_reserve(start);
  give_addresses_back(start);
}

std::size_t release_tail(void*) { return 0; }
void leave_out_of_dumps(void*, std::size_t) {}
void include_in_dumps(void*, std::size_t) {}
void advise_huge(void*, std::size_t) {}
void advise_small(void*, std::size_t) {}
void advise_huge_to_end(void*) {}
void advise_small_to_end(void*) {}
bool populate(void*, std::size_t) { return false; }
bool move_pages(void*, void*, std::size_t) { return false; }
bool lock_memory(void*, std::size_t, Lock) { return false; }
void lock_commits(Lock) {}
Lock commit_lock() { return Lock::kNone; }

std::size_t address_space_limit() { return SIZE_MAX; }

void set_fault_hook_for_test(FaultHook hook) { fault_hook.store(hook, std::memory_order_relaxed); }

namespace {

std::size_t limit_of_job() {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &limits, sizeof limits,
                                nullptr) == 0)
    return SIZE_MAX;
  const DWORD flags = limits.BasicLimitInformation.LimitFlags;
  return std::min((flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0 ? limits.ProcessMemoryLimit : SIZE_MAX,
                  (flags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0 ? limits.JobMemoryLimit : SIZE_MAX);
}

}  // namespace

// What can be committed: it includes the page file.
std::size_t available_bytes() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  const std::size_t left = GlobalMemoryStatusEx(&status) != 0 ? status.ullAvailPageFile : SIZE_MAX;
  return std::min(left, limit_of_job());
}

std::size_t data_limit() { return SIZE_MAX; }

}  // namespace tarn::internal::os
