// The door to the system's memory. Sizes are bytes, multiples of the OS page; each call says what it leaves
// behind.
//
// reserve: a range of addresses of the library's own. It lies between two guards, and so does each map: an
// overflow from beside faults before it reaches the library's records, and one of a block faults before it
// leaves the heap. Dumps of the process hold what is committed of a reserve, not the rest.
//
// Tests replace answers through set_fault_hook_for_test: the Nth call fails as the system would make it fail.
// Threads: any; no locks. None of these changes errno.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// No access on either side of a reserve and of a map.
inline constexpr std::size_t kGuardBytes = 64 * 1024;

/// Takes addresses without memory. \param alignment a power of two; 1: the OS page. \returns nullptr when
/// refused. \post reading or writing there faults until committed.
void* reserve(std::size_t bytes, std::size_t alignment);

/// Addresses that read as zero everywhere at no commit charge. \returns nullptr when refused.
void* reserve_readable(std::size_t bytes);

/// Readable and writable memory, all zero. \returns nullptr when refused.
void* map(std::size_t bytes);

/// Makes reserved (or readable) addresses usable; they read as zero when they were never written.
bool commit(void* start, std::size_t bytes);

/// Contents are no longer needed and the backing goes back; the addresses stay usable and read as zero.
/// \returns false when the contents stay: memory that is locked, or a system whose purge does nothing (the
/// first one is looked at).
bool purge(void* start, std::size_t bytes);

/// Looks at what a purge does before one is needed: the helper thread may not map the page for it.
void find_out_about_purge();

/// Whether dumps of the process hold a committed range. What is committed is held.
void leave_out_of_dumps(void* start, std::size_t bytes);
void include_in_dumps(void* start, std::size_t bytes);

/// Gives a whole reserve or map back, its guards too.
void release(void* start, std::size_t bytes);
/// The same for a reserve that was never used, also under a lock: there is no memory to give back.
void undo_reserve(void* start, std::size_t bytes);

/// Gives the addresses from `start` to the end of its reserve back, but for a guard. \returns bytes given
/// back.
std::size_t release_tail(void* start);

/// Asks for 2 MiB pages (a hint; failure changes nothing).
void advise_huge(void* start, std::size_t bytes);

/// Backs the range with memory now, in one call instead of a fault per OS page (a hint).
void populate(void* start, std::size_t bytes);

/// Moves the pages of one committed range to another of the same size without copying. \pre either range lies
/// in one area of the kernel's map. \post `from` reads as zero; after a failure it is as it was, and `to`
/// reads as zero.
bool move_pages(void* from, void* to, std::size_t bytes);

/// The program has a filter of its own for system calls: from now on only those are made that every malloc
/// needs (mmap, munmap, mprotect). Some filters end the process for any other. Memory still goes back; hints
/// are not given.
void make_common_calls_only();

/// How memory is kept from being paged out: kNow backs it at once, kOnFault locks what is touched.
enum class Lock : std::uint8_t { kNone, kNow, kOnFault };

/// \returns false when RLIMIT_MEMLOCK forbids it, or not all could be backed.
bool lock_memory(void* start, std::size_t bytes, Lock lock);

/// Whether the calling process locks what it commits from now on, the kernel being told to lock all new
/// areas. Reserves are taken unlocked all the same.
void lock_commits(Lock lock);
Lock commit_lock();

struct AddressRange {
  std::uintptr_t start, end;
};
/// The first reserve, with its guards, that ends behind an address; {SIZE_MAX, SIZE_MAX} if there is none.
AddressRange next_reserve(std::uintptr_t address);

/// RLIMIT_AS in bytes, or SIZE_MAX.
std::size_t address_space_limit();

enum class Call : std::uint8_t { kReserve, kMap, kCommit, kPurge, kMove, kDump, kLock };
/// kWithoutEffect: the call is answered as if it had succeeded, and nothing happens.
enum class Fault : std::uint8_t { kNone, kRefused, kWithoutEffect };
using FaultHook = Fault (*)(Call);
void set_fault_hook_for_test(FaultHook hook);

}  // namespace tarn::internal::os
