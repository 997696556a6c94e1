// Calls for the pool as a whole: give memory back, and make memory ready.
#include "central/owners.h"
#include "general/hardened/large_guards.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "general/slow_door.h"
#include "page/give_back/page_cache.h"
#include "tarn/memory_pool.h"
#include "thread/magazine.h"
#include "thread/registry.h"
#include "thread/thread_heap.h"

namespace TARN_NAMESPACE {

using namespace internal;

std::size_t trim(std::size_t keep) noexcept {
  const SlowDoor door;
  // From this thread's cache and those of ended threads down to the pages: what a step frees, the next can
  // give back. What other running threads have cached stays.
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) {
    ReturnedPages returned;
    HeapGuard guard(*heap);
    drop_magazines_locked(*heap, returned);
  }
  registry.return_all_left(Registry::Left::kAll);
  pool_registry.release_unused();
  end_quarantine();
  page_cache.keep_nothing();
  const std::size_t scavenged = owners.trim_all();
  const std::size_t dirty = page_cache.dirty_bytes();
  return scavenged + (dirty > keep ? page_cache.purge(dirty - keep) : 0);
}

std::size_t prewarm(std::size_t bytes) noexcept {
  set_up_once();
  if (!may_be_had(bytes)) return 0;
  end_rare_classes();
  const std::size_t made = page_cache.prewarm(bytes);
  if (MemoryLimit::take_refusal().by == Refusal::By::kHardLimit) memory_limit.note_refused_request();
  answer_limits();
  return made;
}

}  // namespace TARN_NAMESPACE
