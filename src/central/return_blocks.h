// Blocks go back to their slabs, many at a time. They come in runs: mostly of one slab, and of one word of
// its bitmap, so a run costs one lookup and a word one store, or one atomic or.
#pragma once
#include "central/slab_owner.h"
#include "page/returned_pages.h"

namespace tarn::internal {

/// Returns blocks to their slabs: those of `own` directly, all others by their remote bits. `own` may be
/// nullptr, and then no lock is needed. Stops the process on what is no live block. \pre own->mutex is held.
void return_blocks(SlabOwner* own, void* const* blocks, unsigned count, ReturnedPages& returned);

/// The same, but stops after writing `most_words` words of bitmaps. \returns how many blocks went.
unsigned return_some_blocks(SlabOwner* own, void* const* blocks, unsigned count, unsigned most_words,
                            ReturnedPages& returned);

}  // namespace tarn::internal
