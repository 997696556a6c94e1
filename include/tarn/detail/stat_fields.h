/* The one list of statistics. It generates the structs that hold them, the JSON, the lines of malloc_stats,
 * the XML of malloc_info and the report of `tarn run --stats`.
 *
 * A row has these columns:
 *   group, key   where the figure stands in the JSON
 *   member       its name in struct tarn_statistics (tarn/stats.h) and in the XML
 *   unit         kBytes, kCount, or kLimit: bytes, of which 0 is none
 *   line, label  the line of malloc_stats, and the words before the figure; 0: not in it
 *   report       of `tarn run --stats`: title of the line, then text with {} for the figure, or {+} for its
 *                sum with the next one; "": not in it
 *   help         what the figure tells
 * The word before the columns names the counter, and so how the figure is summed:
 *   STATE        computed when asked, from the state of the tiers at that moment
 *   IF_COUNTED   the same, but known only while calls are counted (option count_calls)
 *   OF_THREADS   an event that each thread's cache counts; the sum over all caches
 *   OF_OWNERS    an event that each owner of slabs counts; the sum over all owners
 *   OF_PAGES     an event that the page cache counts
 *
 * Add new rows at the end, whatever their group: programs find a member by its position. */
#pragma once

// clang-format off
#define TARN_STATISTICS(STATE, IF_COUNTED, OF_THREADS, OF_OWNERS, OF_PAGES) \
  STATE(bytes, live, live_bytes, kBytes, 1, "live", "live: {} at the end", \
        "Blocks in use, of the general pool and of every other.") \
  IF_COUNTED(bytes, peak_live, peak_live_bytes, kBytes, 0, "", "live: , {} at most", \
        "The most there were in use; 0 unless calls are counted.") \
  STATE(bytes, mapped, mapped_bytes, kBytes, 3, "mapped", "mapped: {} at the end", \
        "Pages of slabs, large blocks and pools, whether or not they were touched.") \
  STATE(bytes, peak_mapped, peak_mapped_bytes, kBytes, 1, "peak mapped", "mapped: , {} at most", \
        "The most there were.") \
  STATE(bytes, resident, resident_bytes, kBytes, 3, "resident (process)", "mapped: ; {} resident", \
        "Memory of the whole process as the system counts it, also what is not tarn's.") \
  OF_PAGES(bytes, reserved, reserved_bytes, kBytes, 0, "", "mapped: ; {} of addresses reserved", \
        "Addresses taken ahead of need; they cost no memory.") \
  STATE(bytes, cached, cached_bytes, kBytes, 2, "cached by threads", "free: {} cached by threads", \
        "Free blocks that threads have cached.") \
  STATE(bytes, free_in_slabs, free_in_slabs_bytes, kBytes, 2, "free in slabs", "free: , {} in slabs", \
        "Free blocks in slabs, and slabs kept to be used again.") \
  STATE(bytes, free_dirty, free_dirty_bytes, kBytes, 2, "free pages", "free: , {+} in pages", \
        "Free pages that still have memory behind them.") \
  STATE(bytes, free_clean, free_clean_bytes, kBytes, 0, "", "free:  ({} of it given back)", \
        "Free pages whose memory went back to the system.") \
  STATE(bytes, metadata, metadata_bytes, kBytes, 3, "metadata", "metadata: {}", \
        "The library's own records.") \
  STATE(calls, allocate, allocate_calls, kCount, 0, "", "calls: {} allocate", \
        "Allocations of any size; this and the next four are 0 unless calls are counted.") \
  STATE(calls, deallocate, deallocate_calls, kCount, 0, "", "calls: , {} deallocate", \
        "Blocks taken back.") \
  STATE(calls, reallocate, reallocate_calls, kCount, 0, "", "", \
        "Calls of reallocate.") \
  STATE(calls, requested_bytes, requested_bytes, kBytes, 0, "", "", \
        "What all allocations asked for.") \
  STATE(calls, given_bytes, given_bytes, kBytes, 0, "", "", \
        "What they were given, rounded up to size classes.") \
  STATE(large, allocate, large_allocations, kCount, 0, "", "large: {} allocate", \
        "Blocks above 256 KiB that were allocated.") \
  STATE(large, live_count, large_live_count, kCount, 0, "", "large: , {} live", \
        "Those in use.") \
  STATE(large, live_bytes, large_live_bytes, kBytes, 0, "", "large:  ({})", \
        "Their pages.") \
  STATE(threads, live, live_threads, kCount, 0, "", "threads: {} at the end", \
        "Threads that have a cache of their own; one that calls rarely has none.") \
  STATE(threads, peak, peak_threads, kCount, 0, "", "threads: , {} at most", \
        "The most there were.") \
  OF_THREADS(events, refills, refills, kCount, 0, "", "slow path: {} refills", \
        "Times a thread had no cached block of a class.") \
  OF_THREADS(events, flushes, flushes, kCount, 0, "", "slow path: , {} flushes", \
        "Times a thread had no room for one more.") \
  OF_OWNERS(events, remote_batches, remote_batches, kCount, 0, "", "slow path: , {} remote batches", \
        "Times blocks that other threads had freed were merged into their slab.") \
  OF_OWNERS(events, slabs_made, slabs_made, kCount, 0, "", "slow path: , {} slabs made", \
        "Slabs made of pages.") \
  OF_OWNERS(events, slabs_ended, slabs_ended, kCount, 0, "", "slow path: , {} ended", \
        "Slabs that became pages again.") \
  OF_PAGES(events, chunks_committed, chunks_committed, kCount, 0, "", "", \
        "Chunks of 2 MiB that the system was asked for.") \
  OF_PAGES(events, purged_bytes, purged_bytes, kBytes, 3, "given back so far", "slow path: ; {} purged", \
        "Memory given back to the system so far.") \
  OF_PAGES(events, purge_calls, purge_calls, kCount, 0, "", "slow path:  in {} calls", \
        "System calls that it took.") \
  OF_PAGES(events, page_cache_locks, page_cache_locks, kCount, 0, "", \
           "slow path: ; page cache locked {} times", \
        "Times pages were taken or freed under the one lock that all threads have in common.") \
  STATE(limits, held, held_bytes, kBytes, 0, "", "limits: {} held", \
        "Memory held from the system, which the limits limit: mapped, free dirty pages and all records.") \
  STATE(limits, soft_limit, soft_limit_bytes, kLimit, 0, "", "limits: ; soft limit {}", \
        "The soft limit; 0: none.") \
  STATE(limits, hard_limit, hard_limit_bytes, kLimit, 0, "", "limits: , hard limit {}", \
        "The hard limit; 0: none.") \
  STATE(limits, crossings, soft_limit_crossings, kCount, 0, "", "limits: ; {} crossings", \
        "Times the soft limit was crossed although free memory had gone back.") \
  STATE(limits, refusals, hard_limit_refusals, kCount, 0, "", "limits: , {} refusals", \
        "Requests that were refused at the hard limit.")
// clang-format on

/* Uses of a row: nothing, or a member of a struct. */
#define TARN_STATISTIC_NONE(...)
#define TARN_STATISTIC_MEMBER(group, key, member, ...) uint64_t member;

// clang-format off
#define TARN_EVERY_STATISTIC(ROW) TARN_STATISTICS(ROW, ROW, ROW, ROW, ROW)
#define TARN_STATISTICS_OF_THREADS(ROW) \
  TARN_STATISTICS(TARN_STATISTIC_NONE, TARN_STATISTIC_NONE, ROW, TARN_STATISTIC_NONE, TARN_STATISTIC_NONE)
#define TARN_STATISTICS_OF_OWNERS(ROW) \
  TARN_STATISTICS(TARN_STATISTIC_NONE, TARN_STATISTIC_NONE, TARN_STATISTIC_NONE, ROW, TARN_STATISTIC_NONE)
#define TARN_STATISTICS_OF_PAGES(ROW) \
  TARN_STATISTICS(TARN_STATISTIC_NONE, TARN_STATISTIC_NONE, TARN_STATISTIC_NONE, TARN_STATISTIC_NONE, ROW)
// clang-format on
