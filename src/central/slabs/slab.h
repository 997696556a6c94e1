// A slab by itself: a span cut into blocks of one class, and the bits that mark free blocks.
//
// Threads: under the owner's lock, except find_slab() and index_in_slab(), which read only constants.
#pragma once
#include "base/units.h"
#include "central/classes/size_class.h"
#include "page/spans/span.h"

namespace tarn::internal {

struct SlabOwner;

/// How a span is cut into blocks.
struct SlabCut {
  SizeClass size_class;
  const ClassGeometry& geometry;
  std::uint32_t blocks;
  std::size_t colour;  // bytes before the first block
};

/// Cuts a span into blocks, all of them free.
void begin_slab(Span& span, const SlabCut& cut);

/// \returns the number of blocks in a slab of `pages` pages.
std::uint32_t blocks_in(const ClassGeometry& geometry, PageCount pages);

/// Takes min(wanted, free_count) blocks, lowest addresses first; the lowest comes last in `blocks`.
unsigned take_from_slab(Span& slab, void** blocks, unsigned wanted);

/// Sets bits of one word of free_bits; a bit that is already set means a double free and stops the process.
void mark_free(Span& slab, std::uint32_t word, std::uint64_t mask);

/// Moves the ones of remote_bits to free_bits. \returns how many ones were moved.
std::uint32_t merge_remote_bits(Span& slab);

/// Call when a block came back to a slab: its pages may be free now.
inline void note_more_free(Span& slab) {
  if (slab.quiet == Quiet::kScavenged) slab.quiet = Quiet::kNot;
}

/// What an address in a slab's pages is: a block's start, one inside of a block, or behind all blocks.
enum class AddressIs : std::uint8_t { kBlock, kInside, kBehind };
/// Addresses before the first block lie behind, too. \param index written unless it lies behind.
inline AddressIs place_in_slab(const Span& slab, const void* address, BlockIndex* index) {
  const std::uintptr_t offset = address_of(address) - address_of(slab.start);
  if (offset >= std::size_t{slab.block_count} * slab.stride) return AddressIs::kBehind;
  *index = index_of_offset(static_cast<std::uint32_t>(offset), slab.reciprocal);
  return number_of(*index) * std::size_t{slab.stride} == offset ? AddressIs::kBlock : AddressIs::kInside;
}

/// \returns the owner of the slab that a span is; nullptr: it is none, or the slab has ended.
inline SlabOwner* owner_of_slab(const Span* span) {
  return span != nullptr && span->kind == SpanKind::kSlab ? span->owner.load(std::memory_order_acquire)
                                                          : nullptr;
}

/// \returns the slab that holds a block, and the block's index; stops the process when it is no block.
Span* slab_of_block(void* block, BlockIndex* index);

/// Whether a block may begin at an address of a slab; says what is wrong where none does, and stops the
/// process unless the option at_misuse lets it go on.
bool is_place_of_block(const void* block);

/// \returns whether a block's bit marks the block as free.
bool is_marked_free_locked(const Span& slab, BlockIndex index);

/// Stops the process; of a pool's slab, names the pool.
[[noreturn, gnu::cold]] void stop_at_block(const Span& slab, const char* what, const void* block);
/// The same, unless the option at_misuse lets the process go on.
[[gnu::cold]] void note_misuse_of_block(const Span& slab, const char* what, const void* block);
/// Of a block that is not the pool's. \param other its owner, maybe another pool's; nullptr: it has none.
[[noreturn, gnu::cold]] void stop_for_block_of_another(const SlabOwner& pool, const SlabOwner* other,
                                                       const void* block);
[[noreturn, gnu::cold]] void stop_for_double_free(const Span& slab, std::uint32_t word, std::uint64_t mask);

/// Stops the process when free_count and the bits disagree.
void validate_locked(const Span& slab);

}  // namespace tarn::internal
