// The pages of a heap that no size classes serve: of the page cache, or of a caller's buffer.
//
// Blocks of up to 32 KiB share pages (mixed_page.h); a larger one, or one aligned beyond 16 KiB (4 KiB in a
// buffer), has a span of its own, which ends with it. Pages are listed by the power of two that bounds their
// longest free run, so that a search looks at few; before memory is refused, at all. A page of each kind
// without blocks stays, so that a free and an allocation in turn do not end and make one. Under a memory
// checker, ended spans first wait in `quarantine`, so that a use after free meets poison, not another block.
//
// Invariant: a mixed page is in the list that its longest_run belongs to; what is charged as mapped is the
// sum of the bytes of mixed pages, large spans, quarantine and spare pages.
// Threads: the heap's mutex is held, unless a function says otherwise.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/list.h"
#include "base/units.h"
#include "central/classes/size_class.h"
#include "central/slabs/account.h"
#include "general/pools/pool_header.h"
#include "page/give_back/returned_pages.h"
#include "page/spans/page_map.h"
#include "page/spans/span.h"
#include "pool/pages/buffer_pages.h"
#include "pool/pages/mixed_page.h"

namespace tarn::internal {

/// A request to a heap.
struct BlockRequest {
  bool is_mixed;         // else a span of its own
  SizeClass size_class;  // of a span of its own up to 256 KiB: says how large the block is
  std::size_t block_bytes;
  std::size_t alignment;  // of the block
};

class HeapPages {
 public:
  /// Once, before all other calls. \param buffer nullptr: the page cache. \returns false when a buffer is too
  /// small or memory for its tables is refused.
  bool begin(PoolHeader& pool, void* buffer, std::size_t buffer_bytes, bool poisons);
  /// Ends all pages, at the end of the heap.
  void end(ReturnedPages& returned);

  bool lies_in_buffer() const { return buffer_.is_active(); }
  bool poisons() const { return poisons_; }
  /// Bytes of pages, and their limit; those of the heaps within count too.
  Account& mapped() { return mapped_; }
  const Account& mapped() const { return mapped_; }

  /// Needs no lock.
  BlockRequest request_of(std::size_t size, std::size_t alignment) const;
  /// Whether a block with a span of its own would exceed a limit of mapped bytes, whatever else goes back.
  bool is_beyond_limit(const BlockRequest& request) const {
    return request.block_bytes > mapped_.room() + mapped_.own();
  }

  /// \returns nullptr when memory is refused.
  void* take_block(const BlockRequest& request, ReturnedPages& returned);
  /// Frees a live block; stops the process when the pointer is none. \returns the block's bytes.
  std::size_t take_back(void* block, ReturnedPages& returned);

  /// \returns the bytes of a live block; stops the process when the pointer is none.
  std::size_t block_bytes(const void* block) const;
  /// \returns the span that holds an address; nullptr: none of the heap does.
  Span* find(const void* pointer) const {
    Span* const span = lies_in_buffer() ? buffer_.find(pointer) : page_map.find(pointer);
    return span != nullptr && span->unmarked_pool() == pool_ ? span : nullptr;
  }
  Span* find_in_buffer(const void* pointer) const { return buffer_.find(pointer); }

  /// Frees all live blocks.
  void retire_all(ReturnedPages& returned);

  /// Adds the live blocks behind an address, the lowest first (PoolOperations::add_live).
  bool add_live(std::uintptr_t& behind, LivePicture& picture) const;

  /// Gives pages without live blocks back. \returns bytes.
  std::size_t release_unused(ReturnedPages& returned);

  /// Makes a page ahead of need, backed; nullptr when memory is refused. No lock is held.
  Span* make_spare() const;
  /// \returns false when that many mapped bytes are too many; the page stays the caller's.
  bool add_spare(Span* page);

  /// Stops the process when the invariant is broken or the live blocks differ from the arguments.
  void validate(std::size_t live_bytes, std::size_t live_count) const;

 private:
  friend class ObservedLayout;

  static constexpr std::size_t kLargestMixed = 32 * 1024;
  static constexpr std::size_t kFineLists = std::bit_width(kPageBytes / mixed_page::kFineBytes) + 1;
  static constexpr std::size_t kCoarseLists = std::bit_width(kPageBytes / mixed_page::kCoarseBytes) + 1;

  std::size_t unit_bytes() const { return lies_in_buffer() ? BufferPages::kUnitBytes : kPageBytes; }
  std::size_t span_bytes(const Span& span) const {
    return lies_in_buffer() ? span.buffer_units * BufferPages::kUnitBytes : span.bytes();
  }
  std::size_t block_bytes_of_large(const Span& span) const;
  std::size_t block_bytes_at(const Span& span, BlockIndex index) const;
  Span& span_of_block(const void* block, BlockIndex* index) const;
  [[noreturn]] void stop(const char* what, const void* block) const;

  /// The lists of pages that may have so many granules side by side.
  std::span<List<Span>> lists_for(std::uint32_t granule, unsigned granules) {
    const std::span<List<Span>> lists(mixed_);
    const auto first = static_cast<std::size_t>(std::bit_width(granules));
    return granule == mixed_page::kFineBytes ? lists.first<kFineLists>().subspan(first)
                                             : lists.subspan<kFineLists>().subspan(first);
  }
  List<Span>& list_of(const Span& page) { return lists_for(page.stride, page.longest_run).front(); }
  Span*& empty_like(const Span& page) { return empty_[page.stride == mixed_page::kCoarseBytes]; }
  void* take_from(Span& page, const BlockRequest& request);
  enum class Search : bool { kSome, kAll };
  void* take_mixed(const BlockRequest& request, Search search);
  void* take_any(const BlockRequest& request);
  std::size_t take_back_mixed(Span& page, BlockIndex index, ReturnedPages& returned);

  Span* take_span(std::uint32_t words, std::size_t bytes, std::size_t alignment);
  Span* take_charged_span(std::uint32_t words, std::size_t bytes, std::size_t alignment);
  Span* take_spare(std::uint32_t words);
  Span* make_mixed(const BlockRequest& request);
  Span* make_large(const BlockRequest& request);
  bool may_make_room() const;
  void end_span(Span* span, ReturnedPages& returned);
  void retire_span(Span* span, ReturnedPages& returned);
  void retire_list(List<Span>& spans, ReturnedPages& returned);
  void end_quarantine(std::size_t bytes_to_keep, const Span* span_to_keep, ReturnedPages& returned);
  void end_unused(ReturnedPages& returned);
  void wipe_live(const Span& span) const;

  PoolHeader* pool_ = nullptr;
  bool poisons_ = false;
  BufferPages buffer_;
  Account mapped_;
  List<Span> mixed_[kFineLists + kCoarseLists];  // by the bits of their longest_run, fine ones first
  Span* empty_[2] = {};  // a fine page without a block, and a coarse one; nullptr: there is none
  List<Span> large_;
  List<Span> spare_;       // single pages
  List<Span> quarantine_;  // oldest first, all poisoned
  std::size_t quarantined_bytes_ = 0;
};

}  // namespace tarn::internal
