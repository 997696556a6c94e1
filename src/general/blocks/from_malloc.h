// The general pool's blocks from malloc, one by one, for checkers that know malloc's blocks alone: with the
// option pools_use_malloc, which ThreadSanitizer, Helgrind, DRD, Massif and DHAT set; and where nobody has
// set that option and LeakSanitizer (or AddressSanitizer, which has it) or memcheck looks. Not where malloc
// is ours. Valgrind's, or that of a program with the archive, stands in front of ours: then malloc's blocks
// and the general pool's are freed by the functions of either, so all are malloc's and the table has none.
//
// The thread's magazines stay empty then, so each call comes to a slow door, and a block's pages name no
// record, so its free does too. A pool of its own stands for the general pool in the table of such blocks
// (system_blocks.h): that brings frees, sizes and reallocations to the operations here.
// Threads: any, with no lock held.
#pragma once
#include <cstddef>
#include <cstdint>

#include "general/options/block_source.h"

namespace tarn::internal {

class LivePicture;
struct PoolHeader;

[[gnu::cold]] bool takes_blocks_from_malloc_slow();
/// \cost a load, after the first call.
inline bool takes_blocks_from_malloc() {
  if (block_source.load(std::memory_order_relaxed) == BlockSource::kSlabs) [[likely]]
    return false;
  return takes_blocks_from_malloc_slow();
}

/// A block of the general pool. \returns nullptr with errno ENOMEM when malloc refuses.
void* allocate_from_malloc(std::size_t size, std::size_t alignment);

/// \returns the pool of blocks that neither pages nor the table know, where another serves in place of our
/// malloc; nullptr elsewhere.
PoolHeader* pool_of_unknown();

/// Its live blocks behind an address (PoolOperations::add_live).
bool add_live_from_malloc(std::uintptr_t& behind, LivePicture& picture);
/// The bytes of them all.
std::size_t live_bytes_from_malloc();

}  // namespace tarn::internal
