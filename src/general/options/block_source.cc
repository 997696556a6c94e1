#include "general/options/block_source.h"

#include <cstdlib>

#include "general/options/configuration.h"
#include "os/checker.h"
#include "os/other_copies.h"

// In the files that replace malloc (override/malloc.cc). \why not hidden: gold gives a hidden function that
// is not there an address in an executable.
extern "C" [[gnu::weak]] bool tarn_serves_malloc();

namespace tarn::internal {
namespace {

// A library that is being tested under a sanitizer serves from its slabs all the same.
os::CheckedBlocks blocks_to_take_from_malloc() {
#if defined(TARN_TESTED_UNDER_SANITIZER)
  return os::CheckedBlocks::kNone;
#else
  return os::checked_blocks();
#endif
}

// A library that is preloaded under a program with the archive. The program's malloc comes first, its
// operators only if it exports them: so ours take their blocks from that malloc.
bool other_copy_serves_malloc() {
  return &tarn_serves_malloc != nullptr && !tarn_serves_malloc() &&
         os::is_code_beside_other_copy(reinterpret_cast<const void*>(&std::malloc));
}

bool has_malloc() { return &tarn_serves_malloc != nullptr && tarn_serves_malloc(); }

}  // namespace

void decide_on_block_source() {
  const bool is_replaced = (has_malloc() && os::valgrind_serves_malloc()) || other_copy_serves_malloc();
  const bool is_ours = has_malloc() && !is_replaced;
  const os::CheckedBlocks checked = is_ours ? os::CheckedBlocks::kNone : blocks_to_take_from_malloc();
  const bool is_set = configuration.is_set(Option::kPoolsUseMalloc);
  if (!is_set && checked == os::CheckedBlocks::kAll)
    configuration.set_number(kOptionTable[static_cast<std::size_t>(Option::kPoolsUseMalloc)], 1, "a checker");
  const bool is_wished =
      configuration.is_on(Option::kPoolsUseMalloc) || (!is_set && checked == os::CheckedBlocks::kGeneral);
  BlockSource source = is_wished && !is_ours ? BlockSource::kMalloc : BlockSource::kSlabs;
  if (is_replaced) source = BlockSource::kMallocForOurs;  // free() of the program need not come to us
  block_source.store(source, std::memory_order_relaxed);
}

bool malloc_is_ours() {
  return has_malloc() && block_source.load(std::memory_order_relaxed) != BlockSource::kMallocForOurs;
}

bool may_have_blocks_of_malloc() {
  return configuration.is_on(Option::kPoolsUseMalloc) ||
         block_source.load(std::memory_order_relaxed) >= BlockSource::kMalloc;
}

}  // namespace tarn::internal
