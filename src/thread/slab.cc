#include "thread/slab.h"

#include <bit>

#include "base/bits.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "page/page_cache.h"
#include "page/page_map.h"

namespace tarn::internal {
namespace {

// A thread's class of this size fills its next slab soon and wholly, so that a huge page is not wasted on it:
// the slab that is only begun is at most an eighth of the class.
constexpr std::size_t kDenseClassBytes = 8 * 1024 * 1024;

// A thread's class of this size gets slabs of full size: fewer are made, and they are a small part of it.
constexpr std::size_t kFullSlabClassBytes = 1024 * 1024;

constexpr unsigned kSparesTried = 4;

// Writes the blocks of one bitmap word downwards from `end`. \returns the new end.
void** emit_word(std::uint64_t bits, char* first_block, std::uint32_t stride, void** end) {
  if (bits == ~std::uint64_t{0}) {
    for (unsigned i = 0; i < 64; ++i) *--end = first_block + i * stride;
    return end;
  }
  for (; bits != 0; bits &= bits - 1)
    *--end = first_block + static_cast<std::size_t>(std::countr_zero(bits)) * stride;
  return end;
}

/// The lowest `count` ones of a word.
std::uint64_t lowest_ones(std::uint64_t word, unsigned count) {
  std::uint64_t rest = word;
  while (count-- > 0) rest &= rest - 1;
  return word & ~rest;
}

}  // namespace

namespace {

// A spare slab of so many pages whose bitmaps have room for so many words.
Span* take_spare(ThreadHeap& owner, PageCount pages, std::uint32_t words) {
  const unsigned kind = spare_kind_of(pages);
  if (kind == kSpareKinds) return nullptr;
  unsigned tried = 0;
  for (Span* slab = owner.spare[kind].first(); slab != nullptr && tried < kSparesTried;
       slab = slab->next, ++tried) {
    if ((1u << slab->capacity_log2) < words) continue;
    owner.spare[kind].remove(slab);
    owner.spare_bytes -= slab->bytes();
    return slab;
  }
  return nullptr;
}

Span* take_new(PageCount pages, std::uint32_t words, Density density) {
  Span* const slab = span_store.take(words);
  if (slab == nullptr) return nullptr;
  const PageRun run = page_cache.allocate_pages(pages, density);
  if (run.start == nullptr) {
    span_store.give_back(slab);
    return nullptr;
  }
  slab->start = run.start;
  slab->pages = pages;
  return slab;
}

}  // namespace

Span* make_slab(ThreadHeap& owner, SizeClass size_class) {
  const ClassGeometry& geometry = class_geometry.of[size_class];
  const std::size_t class_bytes = bytes_of(owner.slab_totals[size_class].pages);
  const PageCount pages = class_bytes < kFullSlabClassBytes ? geometry.first_slab_pages : geometry.slab_pages;
  const bool is_dense = class_bytes >= kDenseClassBytes && page_cache.uses_huge_pages();
  const std::size_t colours = geometry.colours > 1 ? geometry.colours : 1;
  const std::size_t room = bytes_of(pages) - (colours - 1) * kCacheLineBytes;
  const auto block_count = static_cast<std::uint16_t>(room / geometry.stride);
  const auto word_count = static_cast<std::uint16_t>((block_count + 63) / 64);
  Span* slab = take_spare(owner, pages, word_count);
  const bool is_spare = slab != nullptr;
  if (!is_spare) slab = take_new(pages, word_count, is_dense ? Density::kDense : Density::kSparse);
  if (slab == nullptr) return nullptr;
  const bool is_of_class = is_spare && slab->size_class.load(std::memory_order_relaxed) == size_class;
  slab->start = slab->first_page() + owner.counters.slabs_made % colours * kCacheLineBytes;
  slab->stride = geometry.stride;
  slab->reciprocal = geometry.reciprocal;
  slab->block_count = block_count;
  slab->word_count = word_count;
  slab->size_class.store(size_class, std::memory_order_relaxed);
  slab->kind = SpanKind::kSlab;
  slab->free_count = block_count;
  slab->scan_word = 0;
  slab->is_listed = false;
  slab->is_kept = false;
  slab->is_scavenged = false;
  for (std::uint32_t word = 0; word < word_count; ++word) slab->free_bits[word] = ~std::uint64_t{0};
  if (const unsigned rest = block_count % 64; rest != 0)
    slab->free_bits[word_count - 1] = (std::uint64_t{1} << rest) - 1;
  slab->owner.store(&owner, std::memory_order_seq_cst);
  if (!is_of_class) page_map.set(slab, static_cast<std::uint16_t>(size_class * sizeof(detail::Record)));
  ++owner.counters.slabs_made;
  return slab;
}

void end_slab(Span* slab) {
  page_map.clear(slab);
  if (is_private_class(slab->size_class.load(std::memory_order_relaxed)))
    os::unpoison(slab->first_page(), slab->bytes());
  char* const start = slab->first_page();
  const PageCount pages = slab->pages;
  span_store.give_back(slab);
  page_cache.free_pages(start, pages, PageState::kDirty);
}

unsigned take_from_slab(Span& slab, void** blocks, unsigned wanted) {
  const unsigned count = wanted < slab.free_count ? wanted : slab.free_count;
  slab.is_scavenged = false;
  void** end = blocks + count;
  std::uint32_t word = slab.scan_word;
  for (unsigned left = count; left != 0; ++word) {
    const std::uint64_t bits = slab.free_bits[word];
    if (bits == 0) continue;
    const unsigned ones = bits == ~std::uint64_t{0} ? 64 : count_ones(bits);
    const std::uint64_t taken = ones <= left ? bits : lowest_ones(bits, left);
    end = emit_word(taken, slab.start + std::size_t{word} * 64 * slab.stride, slab.stride, end);
    slab.free_bits[word] = bits & ~taken;
    if (ones > left) break;
    left -= ones;
  }
  slab.free_count -= count;
  slab.scan_word = static_cast<std::uint16_t>(slab.free_count == 0 ? slab.word_count : word);
  return count;
}

void mark_free(Span& slab, std::uint32_t word, std::uint64_t mask) {
  const std::uint64_t twice = slab.free_bits[word] & mask;
  if (twice != 0) [[unlikely]]
    os::fatal("double free",
              slab.start + (word * 64 + static_cast<std::size_t>(std::countr_zero(twice))) * slab.stride);
  slab.free_bits[word] |= mask;
  slab.free_count += count_ones(mask);
  if (word < slab.scan_word) slab.scan_word = static_cast<std::uint16_t>(word);
}

std::size_t merge_remote_bits(Span& slab) {
  const std::uint32_t before = slab.free_count;
  for (std::uint32_t word = 0; word < slab.word_count; ++word) {
    if (slab.remote_bits[word].load(std::memory_order_relaxed) == 0) continue;
    mark_free(slab, word, slab.remote_bits[word].exchange(0, std::memory_order_seq_cst));
  }
  return slab.free_count - before;
}

}  // namespace tarn::internal
