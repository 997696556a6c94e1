#include "pool/mixed_page.h"

#include <algorithm>
#include <bit>

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

// A block lies in two words at most.
std::size_t granules_of_block(const Span& page, BlockIndex first) {
  const std::size_t word = bitmap::word_of(first), at = number_of(first) % bitmap::kWordBits;
  const std::uint64_t ends = page.remote_bits[word].load(std::memory_order_relaxed) >> at;
  if (ends != 0) return static_cast<std::size_t>(std::countr_zero(ends)) + 1;
  const std::uint64_t next = page.remote_bits[word + 1].load(std::memory_order_relaxed);
  return bitmap::kWordBits - at + static_cast<std::size_t>(std::countr_zero(next)) + 1;
}

constexpr std::uint64_t kEachByte = 0x0101010101010101, kTopOfEach = 0x8080808080808080;
constexpr std::size_t kWordsOfBounds = kWords / sizeof(std::uint64_t);

// Eight bounds lie in a word, that of the first word of bits lowest.
std::uint64_t* bounds_of(Span& page) { return page.free_bits + kWords; }
std::uint64_t bound_at(const Span& page, std::size_t word) {
  return page.free_bits[kWords + word / 8] >> (word % 8 * 8) & 0xff;
}
void set_bound(Span& page, std::size_t word, std::size_t bound) {
  std::uint64_t& bounds = bounds_of(page)[word / 8];
  bounds = (bounds & ~(std::uint64_t{0xff} << (word % 8 * 8))) | std::uint64_t{bound} << (word % 8 * 8);
}
void raise_bound(Span& page, std::size_t word, std::size_t bound) {
  if (bound > bitmap::kWordBits) bound = bitmap::kWordBits;
  if (bound_at(page, word) < bound) set_bound(page, word, bound);
}

// The first run of free granules.
std::size_t find_run(Span& page, unsigned count) {
  for (std::size_t i = 0; i < kWordsOfBounds; ++i) {
    // The top bit of each byte that is at least `count`; bounds are below 128.
    std::uint64_t enough = ((bounds_of(page)[i] | kTopOfEach) - count * kEachByte) & kTopOfEach;
    for (; enough != 0; enough &= enough - 1) {
      const std::size_t word = i * 8 + static_cast<std::size_t>(std::countr_zero(enough)) / 8;
      const std::uint64_t starts = bitmap::run_starts_in(page.free_bits, word, kGranules, count);
      if (starts != 0) return word * bitmap::kWordBits + static_cast<std::size_t>(std::countr_zero(starts));
      set_bound(page, word, count - 1);
    }
  }
  return kGranules;
}

// Free granules before one, in its word and the one before.
std::size_t free_before(const Span& page, std::size_t granule) {
  const std::size_t word = granule / bitmap::kWordBits, at = granule % bitmap::kWordBits;
  const auto here =
      at == 0 ? std::size_t{0} : static_cast<std::size_t>(std::countl_one(page.free_bits[word] << (64 - at)));
  if (here < at || word == 0) return here;
  return at + static_cast<std::size_t>(std::countl_one(page.free_bits[word - 1]));
}

// Raises the bounds of the words in which the run around a freed block begins, or goes on.
void note_free(Span& page, std::size_t first, std::size_t count) {
  const std::size_t start = first - free_before(page, first);
  const std::size_t behind = first + count,
                    far = std::min<std::size_t>(behind + bitmap::kWordBits, kGranules);
  const std::size_t end = bitmap::find_zero(page.free_bits, behind, far);
  raise_bound(page, start / bitmap::kWordBits, end - start);
  for (std::size_t word = start / bitmap::kWordBits + 1; word * bitmap::kWordBits < behind; ++word)
    raise_bound(page, word, end - word * bitmap::kWordBits);
}

}  // namespace

void begin(Span& page) {
  page.stride = kGranuleBytes;
  page.block_count = kGranules;
  page.word_count = kWords;
  page.size_class.store(SizeClass::kNone, std::memory_order_relaxed);
  page.free_count = kGranules;
  bitmap::fill(page.free_bits, kGranules);
  for (std::size_t word = 0; word < kWords; ++word) set_bound(page, word, bitmap::kWordBits);
}

void end(Span& page) {
  for (unsigned word = 0; word < kWords; ++word) page.remote_bits[word].store(0, std::memory_order_relaxed);
}

void* take(Span& page, std::size_t bytes) {
  const auto count = static_cast<unsigned>(bytes / kGranuleBytes);
  if (page.free_count < count) return nullptr;
  const std::size_t first = find_run(page, count);
  if (first == kGranules) return nullptr;
  bitmap::clear_range(page.free_bits, first, count);
  page.free_count -= count;
  set_end(page, first + count - 1, true);
  return page.start + first * kGranuleBytes;
}

bool is_block(const Span& page, BlockIndex first) {
  const std::size_t granule = number_of(first);
  if (bitmap::test(page.free_bits, granule)) return false;
  return granule == 0 || bitmap::test(page.free_bits, granule - 1) || ends_at(page, granule - 1);
}

std::size_t block_bytes(const Span& page, BlockIndex first) {
  return granules_of_block(page, first) * kGranuleBytes;
}

std::size_t give_back(Span& page, BlockIndex first) {
  const std::size_t granule = number_of(first), count = granules_of_block(page, first);
  set_end(page, granule + count - 1, false);
  bitmap::set_range(page.free_bits, granule, count);
  page.free_count += static_cast<std::uint32_t>(count);
  note_free(page, granule, count);
  return count * kGranuleBytes;
}

Live validate(const Span& page) {
  Live live{};
  bool is_inside = false;
  for (std::size_t granule = 0; granule < kGranules; ++granule) {
    const bool is_free = bitmap::test(page.free_bits, granule);
    TARN_CHECK(!is_free || (!is_inside && !ends_at(page, granule)));
    if (is_free) continue;
    live.bytes += kGranuleBytes;
    live.count += !is_inside;
    is_inside = !ends_at(page, granule);
  }
  TARN_CHECK(!is_inside);
  for (std::size_t word = 0; word < kWords; ++word) {
    const std::uint64_t bound = bound_at(page, word);
    TARN_CHECK(bound <= bitmap::kWordBits);
    TARN_CHECK(bound == bitmap::kWordBits ||
               bitmap::run_starts_in(page.free_bits, word, kGranules, static_cast<unsigned>(bound) + 1) == 0);
  }
  TARN_CHECK(page.free_count == kGranules - live.bytes / kGranuleBytes);
  return live;
}

}  // namespace tarn::internal::mixed_page
