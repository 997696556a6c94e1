// Every invariant of the library's own records, walked. For programs that know its internals; over malloc
// there is nothing to walk.
#pragma once

#if defined(TARN_TEST_MALLOC)

namespace tarn::test {
inline void validate_library() {}
}  // namespace tarn::test

#else

#include "central/owners.h"
#include "general/pools/pool_registry.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace tarn::test {

/// Stops the process where an invariant does not hold. \threads any; others may use the library meanwhile.
inline void validate_library() {
  using namespace internal;
  owners.for_each([](const SlabOwner& owner) { validate_locked(owner); });
  owners.validate();
  registry.validate();
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) {
    os::LockGuard guard(heap->mutex);
    validate_locked(*heap);
  }
  pool_registry.validate();
  page_cache.validate();
  metadata.validate();
}

}  // namespace tarn::test

#endif
