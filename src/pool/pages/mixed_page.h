// A page that blocks of many sizes share: a slab for each size would take an OS page each, so that a heap of
// some kilobytes, or of a megabyte in many sizes, took many times what it holds.
//
// The page is cut in granules: fine ones of 16 bytes for blocks of up to 1 KiB, or coarse ones of 256 bytes
// for larger ones. A block is a run of them, the first that fits. A bit for each granule says
// that it is free, another that a block ends with it. In a fine page, a byte for each word of bits bounds the
// runs that begin there, so that a search looks at few words; longest_run bounds those of the whole page.
//
// Invariant: a granule is free, or in exactly one block; only the last granule of a block has the second bit;
// no run of free granules is longer than longest_run; in a fine page none that begins in a word is longer
// than its bound, but for those of more than 64.
// Threads: the heap's mutex is held.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "page/spans/span.h"

namespace tarn::internal::mixed_page {

inline constexpr std::uint32_t kFineBytes = 16, kCoarseBytes = 256;
inline constexpr std::size_t kLargestFine = 1024;
inline constexpr std::uint16_t kMostGranules = kPageBytes / kFineBytes;
inline constexpr std::uint16_t kMostWords = kMostGranules / bitmap::kWordBits;
static_assert(kLargestFine / kFineBytes <= bitmap::kWordBits, "a run lies in two words at most");
static_assert(kMostWords == 2 * Span::kInlineWords * sizeof(std::uint64_t),
              "a byte for each word of bits lies where a span with fewer bits has these");
static_assert(kPageBytes / kCoarseBytes <= Span::kInlineWords * bitmap::kWordBits);

/// The largest alignment of blocks, of a page that is aligned so itself.
inline constexpr std::size_t kLargestAlignment = kCoarseBytes * bitmap::kWordBits;

/// \returns the bytes of the granules that serve a block.
constexpr std::uint32_t granule_for(std::size_t bytes, std::size_t alignment) {
  return bytes <= kLargestFine && alignment <= kLargestFine ? kFineBytes : kCoarseBytes;
}
/// \returns words of bits that a page of so many bytes, up to kPageBytes, needs.
constexpr std::uint32_t words_for(std::size_t bytes, std::uint32_t granule) {
  const auto words = static_cast<std::uint32_t>(bitmap::words_for(bytes / granule));
  return granule == kFineBytes && words <= Span::kInlineWords ? Span::kInlineWords + 1 : words;
}

/// \returns whether a span of a heap is such a page, of granules, and not one block.
inline bool is_mixed(const Span& span) { return span.block_count != 1; }

/// Makes all of a page free. \pre the span has room for words_for(bytes, granule).
void begin(Span& page, std::size_t bytes, std::uint32_t granule);
/// Forgets all blocks, before the span serves something else.
void end(Span& page);

/// \param bytes a multiple of a granule. \param alignment at most the page's. \returns nullptr when there is
/// no room; where alignment is no matter, longest_run says so then. \cost a word of bits for 64 granules.
void* take(Span& page, std::size_t bytes, std::size_t alignment);

/// \returns whether a live block begins at a granule.
bool is_block(const Span& page, BlockIndex first);
/// \pre a live block begins there.
std::size_t block_bytes(const Span& page, BlockIndex first);
/// The same; frees it. \returns its bytes.
std::size_t give_back(Span& page, BlockIndex first);

struct Live {
  std::size_t bytes, count;
};
/// Stops the process when the invariant is broken. \returns what is live in the page.
Live validate(const Span& page);

}  // namespace tarn::internal::mixed_page
