#include "central/slabs/slab.h"

#include <atomic>
#include <bit>

#include "base/bitmap.h"
#include "base/bits.h"
#include "base/text.h"
#include "central/slabs/slab_owner.h"
#include "os/fatal.h"
#include "os/process/process.h"
#include "page/spans/page_map.h"

namespace tarn::internal {
namespace {

// Writes the blocks of one bitmap word downwards from `end`. \returns the new end.
void** emit_word(std::uint64_t bits, char* first_block, std::uint32_t stride, void** end) {
  bitmap::for_each_one(bits, [&](unsigned i) { *--end = first_block + std::size_t{i} * stride; });
  return end;
}

}  // namespace

std::uint32_t blocks_in(const ClassGeometry& geometry, PageCount pages) {
  const std::size_t colours = geometry.colours > 1 ? geometry.colours : 1;
  const std::size_t fit = (bytes_of(pages) - (colours - 1) * kCacheLineBytes) / geometry.stride;
  return fit < geometry.block_count ? static_cast<std::uint32_t>(fit) : geometry.block_count;
}

void begin_slab(Span& span, const SlabCut& cut) {
  span.start = span.first_page() + cut.colour;
  span.stride = cut.geometry.stride;
  span.reciprocal = cut.geometry.reciprocal;
  span.block_count = static_cast<std::uint16_t>(cut.blocks);
  span.word_count = static_cast<std::uint16_t>(bitmap::words_for(span.block_count));
  span.size_class.store(cut.size_class, std::memory_order_relaxed);
  span.kind = SpanKind::kSlab;
  span.free_count = span.block_count;
  // A spare slab, or a Span record that served before, still has these from its last use.
  span.scan_word = 0;
  span.settle_at = 0;
  span.is_kept = false;
  span.quiet = Quiet::kNot;
  span.longest_run = span.block_count;
  bitmap::fill(span.free_bits, span.block_count);
}

namespace {

// Takes one that nobody guesses: the numbers' order is known, what they are folded with is not. \pre one is
// free.
void take_by_chance(Span& slab, void** block) {
  static constinit std::atomic<std::uint64_t> drawn{0};
  const std::uint64_t number = drawn.fetch_add(kGoldenRatio, std::memory_order_relaxed);
  const std::uint64_t chance = os::folded(number | 1, os::process_secret(os::kFirstSecretOfGuards));
  std::uint32_t word = static_cast<std::uint32_t>(chance) % slab.word_count;
  while (slab.free_bits[word] == 0) word = word + 1 < slab.word_count ? word + 1 : 0;
  const std::uint64_t bits = slab.free_bits[word], turned = std::rotr(bits, static_cast<int>(chance >> 58));
  const std::uint64_t taken = std::rotl(turned & -turned, static_cast<int>(chance >> 58));
  bitmap::store(slab.free_bits + word, bits & ~taken);
  *block = slab.block(bitmap::index_of_bit(word, std::countr_zero(taken)));
  if (--slab.free_count == 0) slab.scan_word = slab.word_count;
}

}  // namespace

unsigned take_from_slab(Span& slab, void** blocks, unsigned wanted) {
  if (detail::kIsHardened && wanted == 1 && slab.free_count != 0 &&
      slab.owner.load(std::memory_order_relaxed)->is_of_pool) {
    slab.quiet = Quiet::kNot;
    take_by_chance(slab, blocks);
    return 1;
  }
  const unsigned count = wanted < slab.free_count ? wanted : slab.free_count;
  slab.quiet = Quiet::kNot;
  void** end = blocks + count;
  std::uint32_t word = slab.scan_word;
  // Lowest blocks first; the word where this ends may have some left, all before it have none.
  for (unsigned left = count; left != 0; ++word) {
    const std::uint64_t bits = slab.free_bits[word];
    if (bits == 0) continue;
    const unsigned ones = bits == ~std::uint64_t{0} ? 64 : count_ones(bits);
    const std::uint64_t taken = ones <= left ? bits : bitmap::lowest_ones(bits, left);
    end = emit_word(taken, slab.block(bitmap::index_of_bit(word, 0)), slab.stride, end);
    bitmap::store(slab.free_bits + word, bits & ~taken);
    if (ones > left) break;
    left -= ones;
  }
  slab.free_count -= count;
  slab.scan_word = static_cast<std::uint16_t>(slab.free_count == 0 ? slab.word_count : word);
  return count;
}

namespace {

// \returns nullptr of the general pool's, or of a slab that has ended.
const char* pool_name_of(const Span& slab) {
  const SlabOwner* const owner = slab.owner.load(std::memory_order_acquire);
  return owner == nullptr || !owner->is_of_pool ? nullptr : owner->first_part->pool_name;
}

// Of one that has ended its distance to the next is known still.
std::size_t block_bytes_of(const Span& slab) {
  const SlabOwner* const owner = slab.owner.load(std::memory_order_acquire);
  return owner == nullptr ? slab.stride
                          : geometry_of(*owner, slab.size_class.load(std::memory_order_relaxed)).block_bytes;
}

}  // namespace

void stop_at_block(const Span& slab, const char* what, const void* block) {
  const char* const pool = pool_name_of(slab);
  pool == nullptr ? os::fatal(what, block, block_bytes_of(slab))
                  : os::fatal_in_pool(pool, what, block, block_bytes_of(slab));
}

void note_misuse_of_block(const Span& slab, const char* what, const void* block) {
  os::misuse(what, block, pool_name_of(slab), block_bytes_of(slab));
}

void stop_for_block_of_another(const SlabOwner& pool, const SlabOwner* other, const void* block) {
  FixedText<64> what;
  if (other != nullptr && other->is_of_pool) {
    what.add("free of a block of '").add(other->first_part->pool_name).add('\'');
  } else {
    what.add("free of a pointer that is no block of the pool");
  }
  os::fatal_in_pool(pool.first_part->pool_name, what.add('\0').data(), block);
}

void stop_for_double_free(const Span& slab, std::uint32_t word, std::uint64_t mask) {
  stop_at_block(slab, "double free", slab.block(bitmap::index_of_bit(word, std::countr_zero(mask))));
}

namespace {

// Blocks with a count are free of references when they come back.
void check_counts(const Span& slab, std::uint32_t word, std::uint64_t mask) {
  const auto* const counts = static_cast<const std::uint32_t*>(slab.pool_data);
  bitmap::for_each_one(mask, [&](unsigned position) {
    const BlockIndex index = bitmap::index_of_bit(word, static_cast<int>(position));
    if (__atomic_load_n(counts + number_of(index), __ATOMIC_RELAXED) != 0) [[unlikely]]
      stop_at_block(slab, "free of a buffer that handles refer to", slab.block(index));
  });
}

}  // namespace

void mark_free(Span& slab, std::uint32_t word, std::uint64_t mask) {
  if (slab.pool_data != nullptr && slab.kind == SpanKind::kSlab) [[unlikely]]
    check_counts(slab, word, mask);
  const std::uint64_t twice = slab.free_bits[word] & mask;
  if (twice != 0) [[unlikely]]
    stop_for_double_free(slab, word, twice);
  bitmap::store(slab.free_bits + word, slab.free_bits[word] | mask);
  slab.free_count += count_ones(mask);
  slab.longest_run = slab.block_count;
  if (word < slab.scan_word) slab.scan_word = static_cast<std::uint16_t>(word);
}

std::uint32_t merge_remote_bits(Span& slab) {
  const std::uint32_t before = slab.free_count;
  for (std::uint32_t word = 0; word < slab.word_count; ++word) {
    // The free bit is set before the remote bit is cleared: so a reader without the mutex, which reads the
    // remote bit first, finds one of them set.
    const std::uint64_t mask = slab.remote_bits[word].load(std::memory_order_acquire);
    if (mask == 0) continue;
    mark_free(slab, word, mask);
    slab.remote_bits[word].fetch_and(~mask, std::memory_order_seq_cst);
  }
  return slab.free_count - before;
}

namespace {

// Behind a pool's blocks lies nothing that anybody was given.
void stop_behind_blocks_of_pool(const Span& slab, AddressIs place, const void* address) {
  const SlabOwner* const owner = slab.owner.load(std::memory_order_acquire);
  if (place == AddressIs::kBehind && owner != nullptr && owner->is_of_pool)
    stop_for_block_of_another(*owner, nullptr, address);
}

constexpr const char* kFreeInside = "free of a pointer into a block";

}  // namespace

Span* slab_of_block(void* block, BlockIndex* index) {
  Span* const slab = page_map.find(block);
  if (slab == nullptr || slab->kind != SpanKind::kSlab)
    os::fatal("free of a pointer that is no block", block);
  const AddressIs place = place_in_slab(*slab, block, index);
  if (place == AddressIs::kBlock) return slab;
  stop_behind_blocks_of_pool(*slab, place, block);
  stop_at_block(*slab, kFreeInside, block);
}

bool is_place_of_block(const void* block) {
  BlockIndex index{};
  const Span* const slab = page_map.find(block);
  if (slab == nullptr || slab->kind != SpanKind::kSlab) {
    os::misuse("free of a pointer that is no block", block);  // the slab has just ended
    return false;
  }
  const AddressIs place = place_in_slab(*slab, block, &index);
  if (place == AddressIs::kBlock) return true;
  stop_behind_blocks_of_pool(*slab, place, block);
  note_misuse_of_block(*slab, kFreeInside, block);
  return false;
}

bool is_marked_free_locked(const Span& slab, BlockIndex index) {
  const std::uint64_t remote = slab.remote_bits[bitmap::word_of(index)].load(std::memory_order_relaxed);
  return bitmap::test(slab.free_bits, index) || (remote & bitmap::bit(index)) != 0;
}

void validate_locked(const Span& slab) {
  // No block is free twice, none before the word where searches begin, and no free run is longer than the
  // bound.
  std::uint32_t ones = 0, remote = 0;
  for (std::uint32_t word = 0; word < slab.word_count; ++word) {
    const std::uint64_t bits = slab.free_bits[word], remote_bits = slab.remote_bits[word].load();
    TARN_CHECK((bits & remote_bits) == 0);
    TARN_CHECK(word >= slab.scan_word || bits == 0);
    ones += count_ones(bits);
    remote += count_ones(remote_bits);
  }
  for (std::size_t end = 0, first = 0;
       (first = bitmap::find_one(slab.free_bits, end, slab.block_count)) < slab.block_count;) {
    end = bitmap::find_zero(slab.free_bits, first, slab.block_count);
    TARN_CHECK(end - first <= slab.longest_run);
  }
  TARN_CHECK(slab.kind == SpanKind::kSlab);
  TARN_CHECK(ones == slab.free_count);
  TARN_CHECK(ones + remote <= slab.block_count);
  TARN_CHECK(page_map.find(slab.start) == &slab);
}

}  // namespace tarn::internal
