/* A heap profile of the running program, for C and C++: which calls asked for the memory that is live, and
 * for all that came and went.
 *
 *   tarn_profile_start(512 * 1024);        // or TARN_PROFILE=512K, or from outside: tarn profile PID
 *   ...
 *   tarn_visit_samples(print_sample, out);
 *   tarn_profile_stop();
 *
 * One block in so many bytes is sampled, whatever its size: each byte that is asked for has the same
 * chance, so sums over samples, each counted with its weight, are unbiased. Sampled are blocks of malloc and
 * tarn::allocate, large blocks, objects of typed pools, blocks of fixed, shared and buffer pools, runs, and
 * blocks of heaps. Of handle pools, objects are sampled as long as the profile is on.
 *
 * While it is off, calls cost what they always do; while it is on, some ns more, and a sample some us with
 * its stack. Stacks are found by the tables for exceptions (.eh_frame): no frame pointers are needed. Names
 * of functions are found outside of the program: `tarn profile PID` writes pprof, folded stacks, speedscope
 * and a flame graph (docs/look/profile.md).
 *
 * Threads: any, but not in a signal handler. */
#ifndef TARN_PROFILE_H
#define TARN_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "tarn/detail/c_api.h"

/** Samples one block in `interval` bytes from now on, in all threads: 1 samples every block. 0 stops, as
 *  tarn_profile_stop does. Samples of blocks that are live stay until they are freed.
 *  Cost: some us for each thread that has a heap, and a step for each 64 KiB in use. */
TARN_C_API void tarn_profile_start(size_t interval);
TARN_C_API void tarn_profile_stop(void);
/** \returns the bytes from one sample to the next, on average; 0: the profile is off. */
TARN_C_API size_t tarn_profile_interval(void);

/* Members are only added, and at the end. */
struct tarn_sample {
  const void* block;
  size_t bytes;              /* that were asked for */
  double weight;             /* so many live blocks of this size and stack it stands for */
  uint64_t pool;             /* its number, in the order in which pools were made; 0: the general pool */
  const uint64_t* addresses; /* where calls return to, the innermost first: some lie in the library */
  size_t address_count;      /* 0: the stack could not be walked */
};

typedef void (*tarn_sample_visitor)(const struct tarn_sample* sample, void* context);

/** Calls visit(sample, context) for each sampled block that is live. No lock is held during a visit: it may
 *  allocate and free. A sample that begins or ends meanwhile may be visited or not, and another may be
 *  visited twice then.
 *  \returns the number of visits. */
TARN_C_API size_t tarn_visit_samples(tarn_sample_visitor visit, void* context);

#ifdef __cplusplus

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

using Sample = ::tarn_sample;

/// As tarn_profile_start.
TARN_LOCAL inline void start_profile(size_t interval) { ::tarn_profile_start(interval); }
TARN_LOCAL inline void stop_profile() { ::tarn_profile_stop(); }
TARN_LOCAL inline size_t profile_interval() { return ::tarn_profile_interval(); }

/// As tarn_visit_samples, with any function. \pre it does not throw.
template <typename Visit>
TARN_LOCAL size_t visit_samples(Visit&& visit) {
  auto call = [&visit](const tarn_sample& sample) { visit(sample); };
  return ::tarn_visit_samples(
      [](const tarn_sample* sample, void* context) { (*static_cast<decltype(call)*>(context))(*sample); },
      &call);
}

}  // namespace TARN_NAMESPACE

#endif

#endif
