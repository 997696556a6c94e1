#include "central/slab.h"

#include <bit>

#include "base/bitmap.h"
#include "os/fatal.h"
#include "page/page_map.h"

namespace tarn::internal {
namespace {

// Writes the blocks of one bitmap word downwards from `end`. \returns the new end.
void** emit_word(std::uint64_t bits, char* first_block, std::uint32_t stride, void** end) {
  bitmap::for_each_one(bits, [&](unsigned i) { *--end = first_block + std::size_t{i} * stride; });
  return end;
}

}  // namespace

std::uint16_t blocks_in(const ClassGeometry& geometry, PageCount pages) {
  const std::size_t colours = geometry.colours > 1 ? geometry.colours : 1;
  return static_cast<std::uint16_t>((bytes_of(pages) - (colours - 1) * kCacheLineBytes) / geometry.stride);
}

void begin_slab(Span& span, SizeClass size_class, std::size_t colour) {
  const ClassGeometry& geometry = class_geometry[size_class];
  span.start = span.first_page() + colour;
  span.stride = geometry.stride;
  span.reciprocal = geometry.reciprocal;
  span.block_count = blocks_in(geometry, span.pages);
  span.word_count = static_cast<std::uint16_t>(bitmap::words_for(span.block_count));
  span.size_class.store(size_class, std::memory_order_relaxed);
  span.kind = SpanKind::kSlab;
  span.free_count = span.block_count;
  span.scan_word = 0;
  span.settle_at = 0;
  span.is_kept = false;
  span.quiet = Quiet::kNot;
  bitmap::fill(span.free_bits, span.block_count);
}

unsigned take_from_slab(Span& slab, void** blocks, unsigned wanted) {
  const unsigned count = wanted < slab.free_count ? wanted : slab.free_count;
  slab.quiet = Quiet::kNot;
  void** end = blocks + count;
  std::uint32_t word = slab.scan_word;
  for (unsigned left = count; left != 0; ++word) {
    const std::uint64_t bits = slab.free_bits[word];
    if (bits == 0) continue;
    const unsigned ones = bits == ~std::uint64_t{0} ? 64 : count_ones(bits);
    const std::uint64_t taken = ones <= left ? bits : bitmap::lowest_ones(bits, left);
    end = emit_word(taken, slab.block(bitmap::index_of_bit(word, 0)), slab.stride, end);
    slab.free_bits[word] = bits & ~taken;
    if (ones > left) break;
    left -= ones;
  }
  slab.free_count -= count;
  slab.scan_word = static_cast<std::uint16_t>(slab.free_count == 0 ? slab.word_count : word);
  return count;
}

void stop_for_double_free(const Span& slab, std::uint32_t word, std::uint64_t mask) {
  os::fatal("double free", slab.block(bitmap::index_of_bit(word, std::countr_zero(mask))));
}

void mark_free(Span& slab, std::uint32_t word, std::uint64_t mask) {
  const std::uint64_t twice = slab.free_bits[word] & mask;
  if (twice != 0) [[unlikely]]
    stop_for_double_free(slab, word, twice);
  slab.free_bits[word] |= mask;
  slab.free_count += count_ones(mask);
  if (word < slab.scan_word) slab.scan_word = static_cast<std::uint16_t>(word);
}

std::uint32_t merge_remote_bits(Span& slab) {
  const std::uint32_t before = slab.free_count;
  for (std::uint32_t word = 0; word < slab.word_count; ++word) {
    if (slab.remote_bits[word].load(std::memory_order_relaxed) == 0) continue;
    mark_free(slab, word, slab.remote_bits[word].exchange(0, std::memory_order_seq_cst));
  }
  return slab.free_count - before;
}

Span* slab_of_block(void* block, BlockIndex* index) {
  Span* const slab = page_map.find(block);
  if (slab == nullptr || slab->kind != SpanKind::kSlab)
    os::fatal("free of a pointer that is no block", block);
  const auto offset = static_cast<std::uint32_t>(address_of(block) - address_of(slab->start));
  *index = index_of_offset(offset, slab->reciprocal);
  if (number_of(*index) * slab->stride != offset || number_of(*index) >= slab->block_count)
    os::fatal("free of a pointer into a block", block);
  return slab;
}

bool is_marked_free_locked(const Span& slab, BlockIndex index) {
  const std::uint64_t remote = slab.remote_bits[bitmap::word_of(index)].load(std::memory_order_relaxed);
  return bitmap::test(slab.free_bits, index) || (remote & bitmap::bit(index)) != 0;
}

void validate_locked(const Span& slab) {
  std::uint32_t ones = 0, remote = 0;
  for (std::uint32_t word = 0; word < slab.word_count; ++word) {
    const std::uint64_t bits = slab.free_bits[word], remote_bits = slab.remote_bits[word].load();
    TARN_CHECK((bits & remote_bits) == 0);
    TARN_CHECK(word >= slab.scan_word || bits == 0);
    ones += count_ones(bits);
    remote += count_ones(remote_bits);
  }
  TARN_CHECK(slab.kind == SpanKind::kSlab);
  TARN_CHECK(ones == slab.free_count);
  TARN_CHECK(ones + remote <= slab.block_count);
  TARN_CHECK(page_map.find(slab.start) == &slab);
}

}  // namespace tarn::internal
