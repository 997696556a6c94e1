// span: a run of pages managed as one. slab: a span cut into blocks of one size class; its state lies in the
// Span, apart from the blocks.
//
// Invariant of a slab, with its owner's lock held:
//   free_count == number of ones in free_bits;
//   block_count == live blocks + blocks in magazines and depots, or on their way to an owner + free_count +
//   ones in remote_bits, but for a slab whose free blocks scavenge() has taken out.
//
// Which thread may touch which field: the first line is constant while the span exists, except `owner`, which
// changes under the locks of both owners. The second line and free_bits belong to the holder of the owner's
// lock, except `pages`, which is constant for slabs. The third line and remote_bits are atomic, for all,
// but longest_run, which is as the second line.
//
// Memory of a Span is only ever reused for Spans, and is_pending / pending_next survive the reuse: a thread
// that has set a slab's last remote bit may still announce the slab after it ended.
// central/slabs/remote_free.h says how owners recognise such announcements.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/list.h"
#include "base/units.h"
#include "os/locks/lock_rank.h"
#include "tarn/detail/bins.h"
#include "tarn/detail/span_head.h"

namespace tarn::internal {

using detail::SizeClass;

struct SlabOwner;

/// kSlab: of an owner of slabs. kLarge: one block of the general pool. kCached: such a block that was freed,
/// and that an owner keeps. kPool: of the pool that `pool` names; that pool frees its blocks itself.
enum class SpanKind : std::uint8_t { kFree, kSlab, kLarge, kCached, kPool };

/// For how long no block of a slab was taken. What comes back to one that was not scavenged does not count:
/// after a peak, blocks come back for long.
enum class Quiet : std::uint8_t {
  kNot,       // since no look
  kOneLook,   // since the last look at the slabs of its owner
  kTwoLooks,  // since the one before
  kScavenged  // since its wholly free OS pages were given back
};

struct alignas(kCacheLineBytes) Span : detail::SpanHead {
  static constexpr std::uint32_t kInlineWords = 4;

  std::atomic<std::uint64_t>* remote_bits;
  std::atomic<SlabOwner*> owner;
  std::uint16_t block_count;
  std::uint16_t word_count;
  std::atomic<SizeClass> size_class;  // a late announcement may read it while the Span becomes another slab
  SpanKind kind;

  alignas(kCacheLineBytes) Span* previous;
  Span* next;
  union {
    PageCount pages;
    std::uint32_t buffer_units;  // of a slab in a caller's buffer (pool/pages/buffer_pages.h)
  };
  std::uint32_t free_count;
  std::uint16_t scan_word;  // the words below it have no ones
  // Of a slab: with so many free blocks its place in the owner's list changes; 0 while it is in no list of
  // slabs to take from.
  std::uint16_t settle_at;
  bool is_kept;                // made ahead of need: it stays, backed, until a trim by hand
  bool is_zeroed;              // no page of it was written since the system gave it
  Quiet quiet;                 // of a slab
  std::uint8_t capacity_log2;  // room for bitmap words; chosen when the Span is made, constant since
  std::uint64_t inline_free_bits[kInlineWords];

  alignas(kCacheLineBytes) std::atomic<Span*> pending_next;
  std::atomic<std::uint32_t> is_pending;
  std::atomic<std::uint32_t> sampled_count;  // its blocks that observation.h has a sample of
  // No more free blocks lie side by side: of a slab, where only runs lower it
  // (pool/blocks/block_pool_runs.cc), and of a mixed page of a heap (pool/pages/mixed_page.h), which also
  // uses the inline words of a span with more bits.
  std::uint16_t longest_run;
  bool is_zero_when_free;  // of a slab: of the general pool, in the hardened library
  std::atomic<std::uint64_t> inline_remote_bits[kInlineWords];

  /// The start of the span's pages; the first block may begin some lines later.
  char* first_page() const { return start - address_of(start) % kPageBytes; }
  char* block(BlockIndex index) const { return start + number_of(index) * std::size_t{stride}; }
  std::size_t bytes() const { return bytes_of(pages); }
  bool is_listed() const { return settle_at != 0; }
  bool has_samples() const { return sampled_count.load(std::memory_order_relaxed) != 0; }
  bool contains(const void* pointer) const { return address_of(pointer) - address_of(start) < bytes(); }
};
static_assert(sizeof(Span) == 3 * kCacheLineBytes);

/// Takes and returns Spans, sorted by the number of bitmap words they have room for.
class SpanStore {
 public:
  /// \returns nullptr when memory is refused; `kind` is kFree and all bits are clear.
  Span* take(std::uint32_t words);
  void give_back(Span* span);

 private:
  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kSpans>();
  // By the logarithm of the words they have room for; the largest slab has 32,768 blocks.
  Span* free_[10] = {};
};

extern SpanStore span_store;

}  // namespace tarn::internal
