// Blocks return to their slabs, many at a time. They come in runs: mostly blocks of one slab and of one word
// of its bitmap. So a run costs one lookup, and a word costs one store or one atomic OR.
#pragma once
#include "central/slabs/slab_owner.h"
#include "page/give_back/returned_pages.h"

namespace tarn::internal {

/// Returns blocks to their slabs: blocks of `own` directly, all others by their remote bits. With `own`
/// nullptr, no lock is needed. Stops the process at a pointer that is no live block. \pre own->mutex is held.
void return_blocks(SlabOwner* own, void* const* blocks, unsigned count, ReturnedPages& returned);

/// The same, but stops after writing `most_words` words of bitmaps. \returns how many blocks were returned.
unsigned return_some_blocks(SlabOwner* own, void* const* blocks, unsigned count, unsigned most_words,
                            ReturnedPages& returned);

}  // namespace tarn::internal
