// Making, filling from and ending slabs; the bitmap side of thread_heap.h.
#pragma once
#include "page/span.h"
#include "thread/thread_heap.h"

namespace tarn::internal {

/// A fresh slab of a class, all blocks free. \returns nullptr when memory is refused.
Span* make_slab(ThreadHeap& owner, SizeClass size_class);

/// Gives the slab's pages and its Span back. \pre no block of it is in use and it is in no list.
void end_slab(Span* slab);

/// Takes min(wanted, free_count) blocks, lowest addresses first; the lowest comes last in `blocks`.
unsigned take_from_slab(Span& slab, void** blocks, unsigned wanted);

/// Moves the ones of remote_bits to free_bits. \returns how many there were.
std::size_t merge_remote_bits(Span& slab);

/// Sets bits of one word of free_bits; a bit that is set already is a double free and stops the process.
void mark_free(Span& slab, std::uint32_t word, std::uint64_t mask);

}  // namespace tarn::internal
