/* Limits of the memory that the library holds, for C and C++: as the limit of a container, but the program is
 * told before it meets it, and is refused memory where the container would end the process.
 *
 *   tarn::set_memory_limits({.soft = 800 << 20, .hard = 1 << 30});                   // C++
 *   tarn::set_limit_callback([](const tarn::LimitEvent* event, void* cache) {
 *     if (event->kind == TARN_SOFT_LIMIT_CROSSED) static_cast<Cache*>(cache)->shrink();
 *   }, &cache);
 *
 * The options soft_limit and hard_limit (TARN_SOFT_LIMIT, TARN_HARD_LIMIT) set the same limits at start.
 *
 * The limited figure is tarn_held_bytes(), held_bytes of tarn/stats.h: pages in use, whether or not they were
 * touched, free pages that still have memory behind them, and the library's own records. It is bytes of
 * memory: addresses that are only reserved, and free pages whose memory went back, do not count. Nor does
 * what pools take from malloc under pools_use_malloc, unless malloc is tarn's.
 *
 * Soft limit: an allocation that exceeds it, and frees as long as it is exceeded, give free memory back
 * first. If that is not enough, the callback is called, once; again after held_bytes has been below 15/16 of
 * the limit.
 * Hard limit: an allocation that would exceed it gives back the free memory that is missing, or is refused as
 * when the system refuses: nullptr and ENOMEM, std::bad_alloc after the new handler. Frees never fail. Pages
 * never exceed the limit; the library's records may, by what they take. The callback is called at the first
 * refusal, then at most once a second. */
#ifndef TARN_LIMITS_H
#define TARN_LIMITS_H

#include <stddef.h>

#include "tarn/detail/c_api.h"

enum tarn_limit_event_kind { TARN_SOFT_LIMIT_CROSSED = 1, TARN_HARD_LIMIT_REFUSED = 2 };

struct tarn_limit_event {
  enum tarn_limit_event_kind kind;
  size_t held_bytes;  /* at the moment of the call */
  size_t limit_bytes; /* the limit that was met */
};

/** A function of the program's. It runs at the end of the call of this library that crossed the limit or was
 *  refused, on its thread, with no lock of the library held: it may allocate, free, trim, read statistics and
 *  set limits. It must return, and must not throw. Only one thread is in it at a time; what happens meanwhile
 *  is told by a later call. */
typedef void (*tarn_limit_callback)(const struct tarn_limit_event* event, void* context);

struct tarn_memory_limits {
  size_t soft; /* bytes; 0: none */
  size_t hard;
};

/** Sets both limits, from now on. Memory in use may exceed them: then free memory goes back, and the hard
 *  limit refuses more until enough is free.
 *  Threads: any. */
TARN_C_API void tarn_set_memory_limits(struct tarn_memory_limits limits) TARN_C_NOEXCEPT;
TARN_C_API struct tarn_memory_limits tarn_read_memory_limits(void) TARN_C_NOEXCEPT;

/** Sets the one callback; NULL: none. A call of the one before that has begun on another thread goes on.
 *  Threads: any. */
TARN_C_API void tarn_set_limit_callback(tarn_limit_callback callback, void* context) TARN_C_NOEXCEPT;

/** \returns the figure that the limits limit. Cost: a load. */
TARN_C_API size_t tarn_held_bytes(void) TARN_C_NOEXCEPT;

#ifdef __cplusplus
#include <cstddef>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

using MemoryLimits = ::tarn_memory_limits;
using LimitEvent = ::tarn_limit_event;

TARN_LOCAL inline void set_memory_limits(const MemoryLimits& limits) noexcept {
  tarn_set_memory_limits(limits);
}
TARN_LOCAL inline MemoryLimits memory_limits() noexcept { return tarn_read_memory_limits(); }

/// \param callback a function, or a lambda without captures.
TARN_LOCAL inline void set_limit_callback(tarn_limit_callback callback, void* context = nullptr) noexcept {
  tarn_set_limit_callback(callback, context);
}

TARN_LOCAL inline std::size_t held_bytes() noexcept { return tarn_held_bytes(); }

}  // namespace TARN_NAMESPACE
#endif

#endif /* TARN_LIMITS_H */
