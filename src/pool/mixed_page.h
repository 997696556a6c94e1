// A page that blocks of many sizes share, for what a heap has few of: a slab for each size would take an OS
// page each, so that a small heap took many times what it holds.
//
// The page is cut in granules of 16 bytes; a block is a run of them, the first that fits. A bit for each
// granule says that it is free, another that a block ends with it. A byte for each word of bits bounds the
// runs that begin there, so that a search looks at few words.
//
// Invariant: a granule is free, or in exactly one block; only the last granule of a block has the second bit;
// no run of free granules that begins in a word is longer than its bound, but for those of more than 64.
// Threads: the heap's mutex is held.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "page/span.h"

namespace tarn::internal::mixed_page {

inline constexpr std::size_t kGranuleBytes = 16;
inline constexpr std::size_t kLargestBlock = 1024;
inline constexpr std::uint16_t kGranules = kPageBytes / kGranuleBytes;
inline constexpr std::uint16_t kWords = kGranules / bitmap::kWordBits;
static_assert(kLargestBlock / kGranuleBytes <= bitmap::kWordBits, "a run lies in two words at most");
inline constexpr std::uint32_t kAllWords = kWords + kWords / sizeof(std::uint64_t);  // with the bounds

/// \returns whether a span of a heap is such a page.
inline bool is_mixed(const Span& span) {
  return span.block_count == kGranules && span.size_class.load(std::memory_order_relaxed) == SizeClass::kNone;
}

/// Makes all of a page free. \pre the span has one page and room for kAllWords.
void begin(Span& page);
/// Forgets all blocks, before the span serves something else.
void end(Span& page);

/// \param bytes a multiple of a granule, up to kLargestBlock. \returns nullptr when no run of free granules
/// is long enough. \cost a word of bits for 64 granules.
void* take(Span& page, std::size_t bytes);

/// \returns whether a live block begins at a granule.
bool is_block(const Span& page, BlockIndex first);
/// \pre a live block begins there.
std::size_t block_bytes(const Span& page, BlockIndex first);
/// The same; frees it. \returns its bytes.
std::size_t give_back(Span& page, BlockIndex first);

struct Live {
  std::size_t bytes, count;
};
/// Stops the process when the invariant is broken. \returns what lives in the page.
Live validate(const Span& page);

}  // namespace tarn::internal::mixed_page
