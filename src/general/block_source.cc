#include "general/block_source.h"

#include "general/configuration.h"
#include "os/checker.h"

// In the files that replace malloc (override/malloc.cc).
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char tarn_replaces_malloc;

namespace tarn::internal {
namespace {

// A library that is being tested under a sanitizer serves from its slabs all the same.
bool is_checked_for_leaks() {
#if defined(TARN_TESTED_UNDER_SANITIZER)
  return false;
#else
  return os::has_leak_sanitizer();
#endif
}

}  // namespace

void decide_on_block_source() {
  const bool is_wished = configuration.is_set(Option::kPoolsUseMalloc)
                             ? configuration.is_on(Option::kPoolsUseMalloc)
                             : is_checked_for_leaks();
  const bool is_ours = &tarn_replaces_malloc != nullptr;
  block_source.store(is_wished && !is_ours ? BlockSource::kMalloc : BlockSource::kSlabs,
                     std::memory_order_relaxed);
}

bool may_have_blocks_of_malloc() {
  return configuration.is_on(Option::kPoolsUseMalloc) ||
         block_source.load(std::memory_order_relaxed) == BlockSource::kMalloc;
}

}  // namespace tarn::internal
