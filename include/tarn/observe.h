/* Looking at the program's own memory, for C and C++: its live blocks, its pools, its statistics, and where
 * the library's records lie.
 *
 *   tarn::visit_blocks([&](const tarn::LiveBlock& block) { bytes[block.size_class] += block.bytes; });
 *
 * Statistics are in tarn/stats.h, which this header includes; pools one by one are visited by
 * tarn::for_each_pool (tarn/pool_use.h, also included) or tarn_visit_pools below; the text for Prometheus is
 * written by tarn/metrics.h. From outside of the program, `tarn top` and its relatives see the same. */
#ifndef TARN_OBSERVE_H
#define TARN_OBSERVE_H

#include <stddef.h>

#include "tarn/detail/c_api.h"
#include "tarn/pools.h"
#include "tarn/stats.h"

/* -- Live blocks ---------------------------------------------------------------------------------------- */

/* Members are only added, and at the end. */
struct tarn_live_block {
  void* address;
  size_t bytes;          /* that the program may use */
  const char* pool_kind; /* as of a PoolUse; NULL: the general pool's */
  const char* pool_name; /* until the visit returns; NULL: the general pool's, or its pool has ended */
  unsigned size_class;   /* of the general pool, and of heaps that have classes, from 1; 0: none */
};

typedef void (*tarn_block_visitor)(const struct tarn_live_block* block, void* context);

/** Calls visit(block, context) for each live block: of malloc and tarn::allocate, of object pools, fixed,
 *  buffer and handle pools, heaps (also in a caller's buffer), and the chunks of arenas.
 *
 *  Other threads may run. A block that is live during the whole call is visited exactly once. One that is
 *  made or freed meanwhile, also by `visit`, is visited once or not at all, and may have been freed by the
 *  time of its visit; so an address may come twice, when another block was made there. A block that is free
 *  during the whole call is not visited: also free blocks that threads have cached are told apart.
 *  In the order of addresses within a pool, and within a region of the general pool.
 *
 *  No lock is held during a visit: it may read and write the block, allocate, free, fork, make and end pools,
 *  and visit blocks itself. It must not throw. \pre what `visit` touches is freed by no other thread
 *  meanwhile.
 *
 *  Cost: each slow call of the program waits now and then while the bits of some thousand blocks are copied;
 *  a step per block, and 400 KiB of memory during the call.
 *  Not from a signal handler.
 *  \returns 0; -1 with errno ENOMEM when that memory is refused: then nothing was visited. */
TARN_C_API int tarn_visit_blocks(tarn_block_visitor visit, void* context);

/** The same, of one heap; heaps within it are others. \pre the heap does not end meanwhile. */
TARN_C_API int tarn_heap_visit_blocks(const tarn_heap* heap, tarn_block_visitor visit, void* context);

/* -- Pools ---------------------------------------------------------------------------------------------- */

/* The figures of tarn::PoolUse, in the same order (tarn/pool_use.h); SIZE_MAX: no limit. */
struct tarn_pool_use {
  const char* kind;
  const char* name; /* until the visit returns, as `parent` */
  size_t block_bytes;
  size_t live_count;
  size_t live_bytes;
  size_t peak_live_bytes;
  size_t mapped_bytes;
  size_t in_classes_bytes;
  size_t waste_bytes;
  size_t capacity;
  size_t largest_count;
  size_t limit_bytes;
  size_t mapped_limit_bytes;
  size_t inner_bytes;
  size_t refusals;
  const char* parent; /* NULL: it lies in no heap */
};

/** tarn::for_each_pool for C. */
TARN_C_API void tarn_visit_pools(void (*visit)(const struct tarn_pool_use* use, void* context),
                                 void* context);

/* -- Where the library's records lie -------------------------------------------------------------------- */

/** Calls visit(start, bytes, context) for each range of addresses that tools need to look at the program in a
 *  dump of its memory: the library's data and ELF headers, its records, and its tables of pages in use; no
 *  blocks. A handler of crashes that writes a minidump adds them (Breakpad: RegisterAppMemory; Crashpad:
 *  SimpleAddressRangeBag), so that `tarn top --core` works on it. Mostly 1-2 % of the heap. Core files have
 *  them anyway. In a program linked with the archive, the data is all of the program's.
 *  Ranges do not overlap. Memory that the library takes later is not among them: ask when the dump is
 *  written. Takes no lock, allocates nothing, makes no system call: also from a signal handler. */
TARN_C_API void tarn_visit_metadata_ranges(void (*visit)(const void* start, size_t bytes, void* context),
                                           void* context);

#ifdef __cplusplus
#include "tarn/detail/api.h"
#include "tarn/heap.h"
#include "tarn/pool_use.h"

namespace TARN_NAMESPACE {

using LiveBlock = ::tarn_live_block;

namespace detail {

TARN_API bool visit_blocks_of_heap(const Heap& heap, ::tarn_block_visitor visit, void* context);

/// Calls a function object by way of a C callback.
template <typename Visit>
struct BlockCallback {
  TARN_LOCAL static void call(const LiveBlock* block, void* visit) { (*static_cast<Visit*>(visit))(*block); }
};

}  // namespace detail

/// tarn_visit_blocks for C++: calls visit(const LiveBlock&). \returns false when memory for it is refused.
template <typename Visit>
[[nodiscard]] TARN_LOCAL bool visit_blocks(Visit visit) {
  return tarn_visit_blocks(detail::BlockCallback<Visit>::call, &visit) == 0;
}

/// The same, of one heap.
template <typename Visit>
[[nodiscard]] TARN_LOCAL bool visit_blocks(const Heap& heap, Visit visit) {
  return detail::visit_blocks_of_heap(heap, detail::BlockCallback<Visit>::call, &visit);
}

/// tarn_visit_metadata_ranges for C++: calls visit(const void* start, std::size_t bytes).
template <typename Visit>
TARN_LOCAL void visit_metadata_ranges(Visit visit) {
  tarn_visit_metadata_ranges([](const void* start, std::size_t bytes,
                                void* context) { (*static_cast<Visit*>(context))(start, bytes); },
                             &visit);
}

}  // namespace TARN_NAMESPACE
#endif

#endif /* TARN_OBSERVE_H */
