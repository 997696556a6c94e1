// Where the general pool's blocks come from: its slabs, or malloc (system_blocks.h says when, and why).
//
// Threads: any; decide_on_block_source() at the set-up.
#pragma once
#include <atomic>
#include <cstdint>

namespace tarn::internal {

enum class BlockSource : std::uint8_t {
  kUndecided,
  kSlabs,
  kMalloc,
  kMallocForOurs,  // another serves in place of ours: blocks of both are one kind, and nobody notes them
};
inline constinit std::atomic<BlockSource> block_source{BlockSource::kUndecided};

/// \pre the options are read, and no block was handed out.
void decide_on_block_source();

/// Whether the program's malloc is the library's. \pre the set-up is done
bool malloc_is_ours();

/// Whether blocks may be malloc's, of pools or of the general pool: the table of such blocks knows.
bool may_have_blocks_of_malloc();

}  // namespace tarn::internal
