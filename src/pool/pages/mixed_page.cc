#include "pool/pages/mixed_page.h"

#include <algorithm>

#include "os/fatal.h"

namespace tarn::internal::mixed_page {
namespace {

// Where blocks end; a span of a pool has no other use for these words.
bool ends_at(const Span& page, std::size_t granule) {
  return (page.remote_bits[granule / bitmap::kWordBits].load(std::memory_order_relaxed) &
          bitmap::bit(granule)) != 0;
}

void set_end(Span& page, std::size_t granule, bool is_end) {
  std::atomic<std::uint64_t>& word = page.remote_bits[granule / bitmap::kWordBits];
  const std::uint64_t bit = bitmap::bit(granule), bits = word.load(std::memory_order_relaxed);
  word.store(is_end ? bits | bit : bits & ~bit, std::memory_order_relaxed);
}

// \returns the last granule of the block that has one.
std::size_t last_of_block(const Span& page, std::size_t granule) {
  for (std::size_t word = granule / bitmap::kWordBits;; granule = ++word * bitmap::kWordBits) {
    const std::uint64_t ends =
        page.remote_bits[word].load(std::memory_order_relaxed) >> granule % bitmap::kWordBits;
    if (ends != 0) return granule + static_cast<std::size_t>(std::countr_zero(ends));
  }
}

std::size_t granules_of_block(const Span& page, BlockIndex first) {
  return last_of_block(page, number_of(first)) - number_of(first) + 1;
}

constexpr std::uint64_t kEachByte = 0x0101010101010101, kTopOfEach = 0x8080808080808080;
constexpr unsigned kInWord = sizeof(std::uint64_t);
constexpr unsigned kWordsOfBounds = kMostWords / kInWord;

// Eight bounds, that of the first word of bits lowest: in the words that a span with few bits has in itself.
std::uint64_t bounds_of(const Span& page, unsigned i) {
  return i < Span::kInlineWords
             ? page.inline_free_bits[i]
             : page.inline_remote_bits[i - Span::kInlineWords].load(std::memory_order_relaxed);
}
void set_bounds(Span& page, unsigned i, std::uint64_t bounds) {
  if (i < Span::kInlineWords)
    page.inline_free_bits[i] = bounds;
  else
    page.inline_remote_bits[i - Span::kInlineWords].store(bounds, std::memory_order_relaxed);
}
std::uint64_t bound_at(const Span& page, std::size_t word) {
  return bounds_of(page, static_cast<unsigned>(word / kInWord)) >> (word % kInWord * 8) & 0xff;
}
void set_bound(Span& page, std::size_t word, std::size_t bound) {
  const auto i = static_cast<unsigned>(word / kInWord);
  const auto shift = word % kInWord * 8;
  set_bounds(page, i, (bounds_of(page, i) & ~(std::uint64_t{0xff} << shift)) | std::uint64_t{bound} << shift);
}
void raise_bound(Span& page, std::size_t word, std::size_t bound) {
  if (bound > bitmap::kWordBits) bound = bitmap::kWordBits;
  if (bound_at(page, word) < bound) set_bound(page, word, bound);
}

// The longest run that begins in a word, of up to 64.
unsigned longest_from(const Span& page, std::size_t word) {
  std::uint64_t low = page.free_bits[word], high = word + 1 < page.word_count ? page.free_bits[word + 1] : 0;
  unsigned count = 0;
  for (; low != 0; ++count) {
    low &= low >> 1 | high << (bitmap::kWordBits - 1);
    high &= high >> 1;
  }
  return count;
}

std::uint64_t largest_of_each(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t is_first = (((a | kTopOfEach) - b) & kTopOfEach) >> 7, first = is_first * 0xff;
  return (a & first) | (b & ~first);
}
unsigned largest_bound(const Span& page) {
  std::uint64_t largest = bounds_of(page, 0);
  for (unsigned i = 1; i < kWordsOfBounds; ++i) largest = largest_of_each(largest, bounds_of(page, i));
  for (unsigned bits = 32; bits >= 8; bits /= 2) largest = largest_of_each(largest, largest >> bits);
  return static_cast<unsigned>(largest & 0xff);
}

// The bits of a word at multiples of a power of two up to 64. A page begins at a multiple of any alignment.
std::uint64_t each(std::size_t step) {
  return step == bitmap::kWordBits ? 1 : ~std::uint64_t{0} / ((std::uint64_t{1} << step) - 1);
}

// The first run of up to 64 free granules, at a multiple of `step`. Words are skipped that have a bound below
// `count`.
std::size_t find_fine(Span& page, unsigned count, std::size_t step) {
  const std::uint64_t places = each(step);
  for (unsigned i = 0; i < kWordsOfBounds; ++i) {
    // The top bit of each byte that is at least `count`; bounds are below 128.
    std::uint64_t enough = ((bounds_of(page, i) | kTopOfEach) - count * kEachByte) & kTopOfEach;
    for (; enough != 0; enough &= enough - 1) {
      const std::size_t word = i * kInWord + static_cast<std::size_t>(std::countr_zero(enough)) / 8;
      const std::uint64_t starts = bitmap::run_starts_in(page.free_bits, word, page.block_count, count);
      if (starts == 0) set_bound(page, word, longest_from(page, word));
      if ((starts & places) != 0)
        return word * bitmap::kWordBits + static_cast<std::size_t>(std::countr_zero(starts & places));
    }
  }
  return page.block_count;
}

// The same in a page of few words.
std::size_t find_coarse(const Span& page, unsigned count, std::size_t step) {
  if (step == 1) return bitmap::find_run(page.free_bits, page.block_count, count);
  for (std::size_t first = 0; first + count <= page.block_count; first += step)
    if (bitmap::find_zero(page.free_bits, first, first + count) == first + count) return first;
  return page.block_count;
}

// Free granules before one, in its word and the one before.
std::size_t free_before(const Span& page, std::size_t granule) {
  const std::size_t word = granule / bitmap::kWordBits, at = granule % bitmap::kWordBits;
  const auto here =
      at == 0 ? std::size_t{0} : static_cast<std::size_t>(std::countl_one(page.free_bits[word] << (64 - at)));
  if (here < at || word == 0) return here;
  return at + static_cast<std::size_t>(std::countl_one(page.free_bits[word - 1]));
}

// Raises the bounds of the words in which the run around a freed block begins, or goes on. Of a run of more
// than 64 granules not all is looked at: all that is free bounds it.
void note_free(Span& page, std::size_t first, std::size_t count) {
  const std::size_t start = first - free_before(page, first), behind = first + count;
  const std::size_t far = std::min<std::size_t>(behind + bitmap::kWordBits, page.block_count);
  const std::size_t end = bitmap::find_zero(page.free_bits, behind, far);
  const std::size_t run = end - start;
  const auto bound = static_cast<std::uint16_t>(run > bitmap::kWordBits ? page.free_count : run);
  page.longest_run = std::max(page.longest_run, bound);
  if (page.stride != kFineBytes) return;
  for (std::size_t word = start / bitmap::kWordBits; word * bitmap::kWordBits < behind; ++word)
    raise_bound(page, word, end - std::max(start, word * bitmap::kWordBits));
}

}  // namespace

void begin(Span& page, std::size_t bytes, std::uint32_t granule) {
  page.stride = granule;
  page.block_count = static_cast<std::uint16_t>(bytes / granule);
  page.word_count = static_cast<std::uint16_t>(bitmap::words_for(page.block_count));
  page.size_class.store(SizeClass::kNone, std::memory_order_relaxed);
  page.free_count = page.block_count;
  page.longest_run = page.block_count;
  bitmap::fill(page.free_bits, page.block_count);
  for (std::size_t word = 0; granule == kFineBytes && word < kMostWords; ++word)
    set_bound(page, word, word < page.word_count ? bitmap::kWordBits : 0);
}

void end(Span& page) {
  for (unsigned word = 0; word < page.word_count; ++word)
    page.remote_bits[word].store(0, std::memory_order_relaxed);
}

void* take(Span& page, std::size_t bytes, std::size_t alignment) {
  const auto count = static_cast<unsigned>(bytes / page.stride);
  if (page.longest_run < count) return nullptr;
  const bool is_fine = page.stride == kFineBytes;
  const std::size_t step = alignment > page.stride ? alignment / page.stride : 1;
  const std::size_t first = is_fine ? find_fine(page, count, step) : find_coarse(page, count, step);
  if (first == page.block_count) {
    // No run is so long: the next search need not look. A search of aligned places does not show that.
    if (step == 1) page.longest_run = static_cast<std::uint16_t>(is_fine ? largest_bound(page) : count - 1);
    return nullptr;
  }
  bitmap::clear_range(page.free_bits, first, count);
  page.free_count -= count;
  page.longest_run = std::min(page.longest_run, static_cast<std::uint16_t>(page.free_count));
  set_end(page, first + count - 1, true);
  return page.start + first * page.stride;
}

bool is_block(const Span& page, BlockIndex first) {
  const std::size_t granule = number_of(first);
  if (bitmap::test(page.free_bits, granule)) return false;
  return granule == 0 || bitmap::test(page.free_bits, granule - 1) || ends_at(page, granule - 1);
}

std::size_t block_bytes(const Span& page, BlockIndex first) {
  return granules_of_block(page, first) * page.stride;
}

std::size_t give_back(Span& page, BlockIndex first) {
  const std::size_t granule = number_of(first), count = granules_of_block(page, first);
  set_end(page, granule + count - 1, false);
  bitmap::set_range(page.free_bits, granule, count);
  page.free_count += static_cast<std::uint32_t>(count);
  note_free(page, granule, count);
  return count * page.stride;
}

Live validate(const Span& page) {
  // Taken granules form blocks that each have one end, and no bound is below a run that there is.
  Live live{};
  bool is_inside = false;
  for (std::size_t granule = 0; granule < page.block_count; ++granule) {
    const bool is_free = bitmap::test(page.free_bits, granule);
    TARN_CHECK(!is_free || (!is_inside && !ends_at(page, granule)));
    if (is_free) continue;
    live.bytes += page.stride;
    live.count += !is_inside;
    is_inside = !ends_at(page, granule);
  }
  TARN_CHECK(!is_inside);
  for (std::size_t word = 0; page.stride == kFineBytes && word < page.word_count; ++word) {
    const std::uint64_t bound = bound_at(page, word);
    TARN_CHECK(bound <= bitmap::kWordBits);
    TARN_CHECK(bound == bitmap::kWordBits || bitmap::run_starts_in(page.free_bits, word, page.block_count,
                                                                   static_cast<unsigned>(bound) + 1) == 0);
  }
  TARN_CHECK(bitmap::find_run(page.free_bits, page.block_count, page.longest_run + std::size_t{1}) ==
             page.block_count);
  TARN_CHECK(page.free_count == page.block_count - live.bytes / page.stride);
  return live;
}

}  // namespace tarn::internal::mixed_page
