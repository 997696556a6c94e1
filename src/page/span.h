// span: a run of pages managed as one. slab: a span cut into blocks of one size class; its state lies here,
// outside of the blocks.
//
// Invariant of a slab, with its owner's lock held:
//   free_count == number of ones in free_bits;
//   block_count == live blocks + blocks in magazines + free_count + ones in remote_bits.
//
// Who may touch what: the first line is constant while the span lives, except `owner`, which changes under
// the locks of both owners. The second line and free_bits belong to whoever holds the owner's lock, but
// `pages`, which is constant for slabs. The third line and remote_bits are atomic and open to all.
//
// Memory of a Span is only ever reused for Spans, and is_pending / pending_next survive: a thread that has
// set the last remote bit may still announce a slab that ended meanwhile. central/remote_free.h says how such
// announcements are told apart.
#pragma once
#include <atomic>
#include <cstdint>

#include "base/list.h"
#include "base/units.h"
#include "os/lock_rank.h"
#include "tarn/detail/bins.h"
#include "tarn/detail/span_head.h"

namespace tarn::internal {

using detail::SizeClass;

struct SlabOwner;

/// kSlab: of a thread. kLarge: one block of the general pool. kPool: of a pool that `pool` names and that
/// takes its blocks back itself.
enum class SpanKind : std::uint8_t { kFree, kSlab, kLarge, kPool };

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
  PageCount pages;
  std::uint32_t free_count;
  std::uint16_t scan_word;  // no ones in the words below it
  bool is_listed;
  bool is_kept;                // made ahead of need: stays, and stays backed, until trimmed by hand
  bool is_zeroed;              // no page of it was written between the system and the one who got the span
  bool is_scavenged;           // its wholly free OS pages were given back, and no block came or went since
  std::uint8_t capacity_log2;  // words there is room for; chosen when the Span is made, constant since
  std::uint64_t inline_free_bits[kInlineWords];

  alignas(kCacheLineBytes) std::atomic<Span*> pending_next;
  std::atomic<std::uint32_t> is_pending;
  std::atomic<std::uint64_t> inline_remote_bits[kInlineWords];

  /// Where its pages begin; blocks may begin some lines later.
  char* first_page() const { return start - address_of(start) % kPageBytes; }
  std::size_t bytes() const { return bytes_of(pages); }
  bool contains(const void* pointer) const { return address_of(pointer) - address_of(start) < bytes(); }
};
static_assert(sizeof(Span) == 3 * kCacheLineBytes);

/// Takes and returns Spans by the number of bitmap words they have room for.
class SpanStore {
 public:
  /// \returns nullptr when memory is refused; `kind` is kFree and all bits are clear.
  Span* take(std::uint32_t words);
  void give_back(Span* span);

 private:
  os::Mutex& mutex_ = os::global_mutex<os::LockRank::kSpans>();
  Span* free_[8] = {};
};

extern SpanStore span_store;

}  // namespace tarn::internal
