// A slab by itself: a span cut into blocks of one class, and the bits that say which are free.
//
// Threads: under the owner's lock, but for find_slab() and index_in_slab(), which read what is constant.
#pragma once
#include "base/units.h"
#include "central/size_class.h"
#include "page/span.h"

namespace tarn::internal {

/// Cuts a span into blocks of a class, all of them free. \param colour bytes before the first block.
void begin_slab(Span& span, SizeClass size_class, std::size_t colour);

/// Blocks in a slab of so many pages.
std::uint16_t blocks_in(const ClassGeometry& geometry, PageCount pages);

/// Takes min(wanted, free_count) blocks, lowest addresses first; the lowest comes last in `blocks`.
unsigned take_from_slab(Span& slab, void** blocks, unsigned wanted);

/// Sets bits of one word of free_bits; a bit that is set already is a double free and stops the process.
void mark_free(Span& slab, std::uint32_t word, std::uint64_t mask);

/// Moves the ones of remote_bits to free_bits. \returns how many there were.
std::uint32_t merge_remote_bits(Span& slab);

/// The slab that holds a block and the block's index; stops the process when it is no block.
Span* slab_of_block(void* block, std::uint32_t* index);

/// Whether a block's bit says free.
bool is_marked_free_locked(const Span& slab, std::uint32_t index);

[[noreturn]] void stop_for_double_free(const Span& slab, std::uint32_t word, std::uint64_t mask);

/// Stops the process where free_count and the bits do not agree.
void validate_locked(const Span& slab);

}  // namespace tarn::internal
