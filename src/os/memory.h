// The door to the system's memory. Sizes are bytes, multiples of the OS page; each call says what it leaves behind.
// Tests replace answers through set_fault_hook_for_test: the Nth call fails as the system would make it fail.
// Threads: any; no locks. None of these changes errno.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// Takes addresses without memory. \param alignment a power of two; 1: the OS page. \returns nullptr when refused.
/// \post reading or writing there faults until committed.
void* reserve(std::size_t bytes, std::size_t alignment);

/// Addresses that read as zero everywhere at no commit charge. \returns nullptr when refused.
void* reserve_readable(std::size_t bytes);

/// Readable and writable memory, all zero. \returns nullptr when refused.
void* map(std::size_t bytes);

/// Makes reserved (or readable) addresses usable; they read as zero when they were never written.
bool commit(void* start, std::size_t bytes);

/// Contents are no longer needed and the backing goes back; the addresses stay usable and read as zero.
bool purge(void* start, std::size_t bytes);

/// Gives addresses back.
void release(void* start, std::size_t bytes);

/// Asks for 2 MiB pages (a hint; failure changes nothing).
void advise_huge(void* start, std::size_t bytes);

/// Backs the range with memory now, in one call instead of a fault per OS page (a hint).
void populate(void* start, std::size_t bytes);

/// Moves the pages of one committed range to another of the same size without copying. \pre either range lies in one
/// area of the kernel's map. \post `from` reads as zero; after a failure it is as it was, and `to` reads as zero.
bool move_pages(void* from, void* to, std::size_t bytes);

/// RLIMIT_AS in bytes, or SIZE_MAX.
std::size_t address_space_limit();

enum class Call : std::uint8_t { kReserve, kMap, kCommit, kPurge, kMove };
/// \returns true when this call must fail.
using FaultHook = bool (*)(Call);
void set_fault_hook_for_test(FaultHook hook);

}  // namespace tarn::internal::os
