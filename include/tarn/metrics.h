/* What the library and the pools hold and have done, as text for Prometheus (text exposition format 0.0.4):
 * the body of the answer to GET /metrics, of type "text/plain; version=0.0.4".
 *
 *   tarn::write_metrics([](const char* text, std::size_t bytes, void* answer) {       // C++
 *     static_cast<std::string*>(answer)->append(text, bytes);
 *   }, &answer);
 *
 * Written are all members of tarn_statistics (tarn/stats.h) as tarn_..., those of each size class in use as
 * tarn_class_..., labelled by its block's bytes, and those of each pool (tarn/pool_use.h) as tarn_pool_...,
 * labelled by kind, name, block_bytes where all blocks have one size, and parent where a heap lies in one.
 * Pools with equal labels are one series, the sum of theirs; tarn_pool_pools tells how many they are. What
 * has no limit has no series of it, and what only counted calls tell has none unless they are counted.
 *
 * Threads: any, at any time but in a signal handler. The figures are those of some moment of the call, as of
 * tarn_stats. No lock is held while the program's function runs; it must not throw.
 * Cost: that of tarn_stats and of a visit to every pool, twice; for N different names of pools a
 * comparison for each pair. Once a second is fine. Nothing is allocated by malloc; a page or more of the
 * library's own records is used meanwhile. */
#ifndef TARN_METRICS_H
#define TARN_METRICS_H

#include <stddef.h>

#include "tarn/detail/c_api.h"

/** Writes all metrics. \param write is called with pieces of up to 1 KiB, in order; they end with no 0.
 *  \returns 0; -1 with errno ENOMEM when the library has no memory left to count in, and then nothing is
 *  written. */
TARN_C_API int tarn_write_metrics(void (*write)(const char* text, size_t bytes, void* context),
                                  void* context) TARN_C_NOEXCEPT;

/** The same, to a file, a pipe or a socket that blocks.
 *  \returns 0; -1 with errno ENOMEM, or as write has set it, and then a part may be written. */
TARN_C_API int tarn_write_metrics_to(int descriptor) TARN_C_NOEXCEPT;

#ifdef __cplusplus
#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

/// \returns false, with errno set, where tarn_write_metrics returns -1.
TARN_LOCAL inline bool write_metrics(void (*write)(const char* text, size_t bytes, void* context),
                                     void* context) noexcept {
  return tarn_write_metrics(write, context) == 0;
}
TARN_LOCAL inline bool write_metrics(int descriptor) noexcept {
  return tarn_write_metrics_to(descriptor) == 0;
}

}  // namespace TARN_NAMESPACE
#endif

#endif /* TARN_METRICS_H */
