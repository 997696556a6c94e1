// The only interface to the system's memory. Sizes are bytes, multiples of the OS page; each call says what
// it leaves behind.
//
// reserve: a range of addresses of the library's own. Each reserve and each map lies between two guards: an
// overflow from outside faults before it reaches the library's records, and an overflow of a block faults
// before it leaves the heap. Dumps of the process hold the committed part of a reserve, not the rest.
//
// Tests inject failures with set_fault_hook_for_test: the Nth call fails as the system would make it fail.
// Threads: any; no locks. No function here changes errno.
#pragma once
#include <cstddef>
#include <cstdint>

#include "os/memory/call_faults.h"

namespace tarn::internal::os {

/// Inaccessible bytes on each side of a reserve and of a map.
inline constexpr std::size_t kGuardBytes = 64 * 1024;

/// Reserves addresses without memory. \param alignment a power of two; 1: the OS page. \returns nullptr when
/// refused. \post reading or writing the addresses faults until they are committed.
void* reserve(std::size_t bytes, std::size_t alignment);
/// The same at a place that is drawn from nearly all addresses, where the kernel places things at random too.
/// \why the kernel draws 28 bits of an address, of which an alignment to 2 MiB takes nine.
void* reserve_anywhere(std::size_t bytes, std::size_t alignment);

/// Reserves addresses that read as zero everywhere, without a commit charge. \returns nullptr when refused.
void* reserve_readable(std::size_t bytes);

/// Readable and writable memory, all zero. \returns nullptr when refused.
void* map(std::size_t bytes);

/// Makes reserved (or readable) addresses usable; they read as zero when they were never written.
bool commit(void* start, std::size_t bytes);

/// Makes whole OS pages fault at each access, until they are made usable again. A hint: where the system
/// refuses, they stay usable.
void make_guard(void* start, std::size_t bytes);
/// \returns false when the system refuses.
bool end_guard(void* start, std::size_t bytes);

/// Lets writing to addresses of the library's file fault, from now on.
void make_read_only(void* start, std::size_t bytes);

/// Discards the contents and gives the backing back; the addresses stay usable and read as zero.
/// \returns false when the contents stay: memory that is locked, or a system whose purge does nothing (the
/// first purge tests that).
bool purge(void* start, std::size_t bytes);

/// Keeps a committed range out of dumps of the process, or in them. Committed ranges start in.
void leave_out_of_dumps(void* start, std::size_t bytes);
void include_in_dumps(void* start, std::size_t bytes);

/// Unmaps a whole reserve or map, with its guards.
void release(void* start, std::size_t bytes);
/// The same for a reserve that was never used; allowed under a lock, because no memory goes back.
void undo_reserve(void* start, std::size_t bytes);

/// Unmaps the addresses from `start` to the end of its reserve, except for a guard. \returns bytes given
/// back.
std::size_t release_tail(void* start);

/// Asks for 2 MiB pages, or for none of them (a hint; failure changes nothing).
void advise_huge(void* start, std::size_t bytes);
void advise_small(void* start, std::size_t bytes);
/// The same for all addresses from `start` to the end of its reserve, and the guard behind: no area of the
/// kernel's map is split.
void advise_huge_to_end(void* start);
void advise_small_to_end(void* start);

/// Backs the range with memory now, in one call instead of a fault per OS page (a hint). \returns whether the
/// system did.
bool populate(void* start, std::size_t bytes);

/// Moves the pages of one committed range to another of the same size without copying. \pre each range lies
/// in one area of the kernel's map. \post `from` reads as zero; after a failure `from` is unchanged, and `to`
/// reads as zero.
bool move_pages(void* from, void* to, std::size_t bytes);

/// How memory is kept from being paged out: kNow backs it at once, kOnFault locks pages that are touched.
enum class Lock : std::uint8_t { kNone, kNow, kOnFault };

/// \returns false when RLIMIT_MEMLOCK forbids it, or not all bytes could be backed.
bool lock_memory(void* start, std::size_t bytes, Lock lock);

/// Whether the calling process locks all memory it commits from now on; the kernel was told to lock new
/// areas. Reserves are taken unlocked in any case.
void lock_commits(Lock lock);
Lock commit_lock();

struct AddressRange {
  std::uintptr_t start, end;
};
/// \returns the first reserve, with its guards, that ends behind an address; {SIZE_MAX, SIZE_MAX}: none.
AddressRange next_reserve(std::uintptr_t address);

/// RLIMIT_AS in bytes, or SIZE_MAX.
std::size_t address_space_limit();

void set_fault_hook_for_test(FaultHook hook);

}  // namespace tarn::internal::os
