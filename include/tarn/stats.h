/* What the library holds and has done, as numbers, for C and C++: for the metrics page of a server, a test
 * that looks for leaks, a line in a log. They are the figures of TARN_STATS_FILE and of `tarn run --stats`.
 *
 *   const tarn::Statistics now = tarn::stats();                   // C++
 *   metrics.set("live_bytes", now.live_bytes);
 *
 * The members and what each tells are listed in tarn/detail/stat_fields.h. Members that end in _bytes are
 * bytes, all others are counts. A block counts with the size of its class, not with the size asked for.
 *
 * Threads: any, at any time but in a signal handler. No thread is stopped: the figures of threads that run
 * meanwhile are those of some moment of the call, and exact once these threads are at rest.
 * Cost: nothing until it is called. A call takes the lock of each thread's slabs in turn and that of the page
 * cache, looks at every slab with free blocks, and reads a file of /proc. Once a second is fine, once per
 * request is not. */
#ifndef TARN_STATS_H
#define TARN_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "tarn/detail/c_api.h"
#include "tarn/detail/stat_fields.h"

/* A program may be older or newer than the library it meets: members are only added, and at the end. */
struct tarn_statistics {
  uint64_t are_calls_counted; /* 1: the option count_calls is on; 0: what needs it is 0 */
  TARN_EVERY_STATISTIC(TARN_STATISTIC_MEMBER)
};

/** Fills `*statistics`.
 *  \param bytes sizeof(struct tarn_statistics): it tells the library which members the program knows. Members
 *  that the library does not know become 0.
 *  \returns how many bytes the library filled; 0, with errno ENOMEM and all members 0, when it has no memory
 *  left to count in. */
TARN_C_API size_t tarn_stats(struct tarn_statistics* statistics, size_t bytes) TARN_C_NOEXCEPT;

/** The former name of tarn_stats, for programs that were built with it. */
TARN_C_API size_t tarn_read_statistics(struct tarn_statistics* statistics, size_t bytes) TARN_C_NOEXCEPT;

#ifdef __cplusplus
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

using Statistics = ::tarn_statistics;

/// The figures of this moment; all 0 when the library has no memory left to count in.
TARN_LOCAL inline Statistics stats() noexcept {
  Statistics figures;
  tarn_stats(&figures, sizeof figures);
  return figures;
}

/// The former name of stats().
TARN_LOCAL inline Statistics statistics() noexcept { return stats(); }

}  // namespace TARN_NAMESPACE
#endif

#endif /* TARN_STATS_H */
