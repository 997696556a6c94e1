// Keeping threads on cores.
#include "threads.h"

#include <sched.h>

namespace tarn::bench {
namespace {

constinit cpu_set_t own_cores = {};
constinit unsigned core_count = 0;  // 0: threads go where they like

int usable_core(unsigned number) {
  int core = 0;
  for (; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &own_cores) && number-- == 0) break;
  return core;
}

}  // namespace

unsigned usable_cores() {
  if (core_count != 0) return core_count;
  const bool is_known = sched_getaffinity(0, sizeof own_cores, &own_cores) == 0;
  return is_known ? static_cast<unsigned>(CPU_COUNT(&own_cores)) : 1;
}

void pin_threads() {
  core_count = usable_cores();
  stay_on_core(0);
}

void stay_on_core(unsigned index) {
  if (core_count == 0) return;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(usable_core(index % core_count), &own);
  sched_setaffinity(0, sizeof own, &own);
}

}  // namespace tarn::bench
