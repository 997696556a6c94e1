// The slabs of a heap: of the general pool's size classes, in pages of the page cache or in a caller's
// buffer.
//
// A block above 256 KiB, or aligned beyond a slab's alignment, has a slab of its own, of no class. Each class
// keeps one empty slab, so that a free and an allocation in turn do not end and make one. Under a memory
// checker, ended slabs first wait in `quarantine`, so that a use after free meets poison, not another block.
//
// What a heap has few of shares pages (mixed_page.h), unless a checker or a buffer needs more order: a size
// has at most kMostMixed live blocks there while its class has no free block.
//
// Of a class's slabs, those that are used by half or more give blocks first: after a peak the others empty.
//
// Invariant: a slab is in `available` of its class when it has free blocks and in `full` otherwise;
// what is charged as mapped is the sum of the bytes of these slabs, of the slabs in quarantine, of the mixed
// and of the spare pages.
// Threads: the heap's mutex is held, unless a function says otherwise.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/list.h"
#include "base/units.h"
#include "central/account.h"
#include "central/size_class.h"
#include "general/pool_header.h"
#include "page/page_map.h"
#include "page/returned_pages.h"
#include "page/span.h"
#include "pool/buffer_pages.h"
#include "pool/mixed_page.h"

namespace tarn::internal {

/// A request to a heap.
struct BlockRequest {
  SizeClass size_class;  // kNone: a slab of its own
  // As large as the block is: with the line that the stride of its class may have more.
  std::size_t block_bytes;
  std::size_t alignment;  // of the block

  bool may_lie_in_mixed_page() const {
    return alignment <= mixed_page::kGranuleBytes && block_bytes <= mixed_page::kLargestBlock &&
           block_bytes > detail::kTinyLimit;
  }
};

class HeapSlabs {
 public:
  /// Once, before all other calls. \param buffer nullptr: the page cache. \returns false when a buffer is too
  /// small or memory for its tables is refused.
  bool begin(PoolHeader& pool, void* buffer, std::size_t buffer_bytes, bool poisons);
  /// Ends all slabs, at the end of the heap.
  void end(ReturnedPages& returned);

  bool lies_in_buffer() const { return buffer_.is_active(); }
  bool poisons() const { return poisons_; }
  /// Bytes of pages, and their limit; those of the heaps within count too.
  Account& mapped() { return mapped_; }
  const Account& mapped() const { return mapped_; }

  /// Needs no lock.
  BlockRequest request_of(std::size_t size, std::size_t alignment) const {
    return request_of(size, alignment, unit_bytes());
  }
  /// Whether a block with a slab of its own would exceed a limit of mapped bytes, whatever else goes back.
  bool is_beyond_limit(const BlockRequest& request) const {
    return request.block_bytes > mapped_.room() + mapped_.own();
  }

  /// \returns nullptr when memory is refused.
  void* take_block(const BlockRequest& request, ReturnedPages& returned);
  /// Frees a live block; stops the process when the pointer is none. \returns the block's bytes.
  std::size_t take_back(void* block, ReturnedPages& returned);

  /// \returns the bytes of a live block; stops the process when the pointer is none.
  std::size_t block_bytes(const void* block) const;
  /// \returns the slab that holds an address; nullptr: no slab of the heap does.
  Span* find(const void* pointer) const {
    Span* const span = lies_in_buffer() ? buffer_.find(pointer) : page_map.find(pointer);
    return span != nullptr && span->unmarked_pool() == pool_ ? span : nullptr;
  }
  Span* find_in_buffer(const void* pointer) const { return buffer_.find(pointer); }

  /// Frees all live blocks.
  void retire_all(ReturnedPages& returned);

  /// Adds the live blocks of slabs and mixed pages behind an address, the lowest first
  /// (PoolOperations::add_live).
  bool add_live(std::uintptr_t& behind, LivePicture& picture) const;

  /// Gives slabs and pages without live blocks back. \returns bytes.
  std::size_t release_unused(ReturnedPages& returned);

  /// Makes a page ahead of need, backed; nullptr when memory is refused. No lock is held.
  Span* make_spare() const;
  /// \returns false when that many mapped bytes are too many; the page stays the caller's.
  bool add_spare(Span* page);

  /// Stops the process when the invariant is broken or the live blocks differ from the arguments.
  void validate(std::size_t live_bytes, std::size_t live_count) const;

 private:
  friend class ObservedLayout;

  static constexpr unsigned kMostMixed = 16;

  static BlockRequest request_of(std::size_t size, std::size_t alignment, std::size_t unit) {
    // Tiny blocks are aligned less.
    if (alignment > detail::kTinyLimit && size <= detail::kTinyLimit) size = detail::kTinyLimit + 1;
    if (size <= detail::kMediumLimit && alignment <= unit) {
      const SizeClass size_class =
          alignment <= 16 ? class_of_size(size) : aligned_class_of(kClassesInUse, size, alignment);
      if (size_class != SizeClass::kNone) return {size_class, class_geometry[size_class].stride, alignment};
    }
    return {SizeClass::kNone, round_up(size == 0 ? 1 : size, unit), alignment};
  }
  void wipe_live(const Span& slab) const;
  std::size_t unit_bytes() const { return lies_in_buffer() ? BufferPages::kUnitBytes : kPageBytes; }
  std::size_t slab_bytes(const Span& slab) const {
    return lies_in_buffer() ? slab.buffer_units * BufferPages::kUnitBytes : slab.bytes();
  }
  /// Of each block of a slab that is not mixed.
  std::size_t block_bytes_of(const Span& slab) const;
  std::size_t block_bytes_of(const Span& slab, BlockIndex index) const;
  /// The measures of a slab for a request.
  struct Shape {
    std::size_t bytes;
    std::size_t stride;
  };
  Shape shape_of(const BlockRequest& request) const;

  Span* take_span(std::uint32_t words, std::size_t bytes, std::size_t alignment);
  Span* take_charged_span(std::uint32_t words, std::size_t bytes, std::size_t alignment);
  Span* take_spare(std::uint32_t words);
  Span* take_slab(const BlockRequest& request, ReturnedPages& returned);
  void list_slab(Span& slab);
  void note_taken(Span& slab);
  void place_slab(Span& slab, bool was_full);
  void* take_mixed(std::size_t bytes);
  Span* make_slab(const BlockRequest& request, const Shape& shape);
  Span* make_any_slab(const BlockRequest& request);
  Span* make_slab_or_room(const BlockRequest& request, ReturnedPages& returned);
  void end_slab(Span* slab, ReturnedPages& returned);
  void retire_slab(Span* slab, ReturnedPages& returned);
  void retire_list(List<Span>& slabs, ReturnedPages& returned);
  void end_quarantine(std::size_t bytes_to_keep, const Span* slab_to_keep, ReturnedPages& returned);
  void end_empty_slabs(ReturnedPages& returned);
  void end_all_spare(ReturnedPages& returned);

  template <typename Visit>
  void for_each_slab(Visit visit) const;
  void add_live_of(const Span& slab, LivePicture& picture) const;
  void add_live_of_mixed(const Span& page, LivePicture& picture) const;

  Span& slab_of_block(const void* block, BlockIndex* index) const;
  std::size_t take_back_mixed(Span& page, BlockIndex index, ReturnedPages& returned);
  bool may_make_room() const;
  bool is_worth_keeping(const Span& slab) const;
  void validate_slab(const Span& slab) const;
  [[noreturn]] void stop(const char* what, const void* block) const;

  PoolHeader* pool_ = nullptr;
  bool poisons_ = false;
  BufferPages buffer_;
  Account mapped_;
  List<Span> full_;
  List<Span> spare_;       // single pages
  List<Span> quarantine_;  // oldest first, all poisoned
  std::size_t quarantined_bytes_ = 0;
  static constexpr std::size_t kMixedSizes = mixed_page::kLargestBlock / mixed_page::kGranuleBytes + 1;

  /// The number of live blocks of a size in mixed pages.
  std::uint16_t& mixed_of(std::size_t bytes) { return mixed_of_[bytes / mixed_page::kGranuleBytes]; }

  static SizeClass class_of(const Span& slab) { return slab.size_class.load(std::memory_order_relaxed); }
  const List<Span>& available(SizeClass size_class) const {
    static constexpr List<Span> kNone{};
    return available_ != nullptr ? available_[index_of_class(size_class)] : kNone;
  }
  /// \pre a slab was made.
  List<Span>& available(const Span& slab) { return available_[index_of_class(class_of(slab))]; }
  template <typename Visit>
  void for_each_list(Visit visit) const {
    for (unsigned index = 0; available_ != nullptr && index < kBinCount; ++index) visit(available_[index]);
  }
  /// \returns false when memory is refused.
  bool make_lists();

  List<Span> mixed_;
  std::uint16_t mixed_of_[kMixedSizes] = {};
  List<Span>* available_ = nullptr;  // by class; made with the first slab, since most small heaps need none
};

}  // namespace tarn::internal
