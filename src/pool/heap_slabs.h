// The slabs of a heap: of the general pool's size classes, in pages of the page cache or in a caller's
// buffer.
//
// A block above 256 KiB, or aligned beyond a slab's alignment, has a slab of its own, of no class. Each class
// keeps one empty slab, so that a free and an allocation in turn do not end and make one. Under a memory
// checker, ended slabs first wait in `quarantine`, so that a use after free meets poison, not another block.
//
// What a heap has few of shares pages (mixed_page.h), unless a checker or a buffer needs more order: a size
// has at most kMostMixed live blocks there while its class has no free block. The last two of a size that
// were freed there are at hand for the next.
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
#include "central/size_class.h"
#include "general/pool_header.h"
#include "page/page_map.h"
#include "page/returned_pages.h"
#include "page/span.h"
#include "pool/buffer_pages.h"
#include "pool/heap_account.h"
#include "pool/mixed_page.h"
#include "pool/stack_depot.h"

namespace tarn::internal {

/// A request to a heap.
struct BlockRequest {
  SizeClass size_class;  // kNone: a slab of its own
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
  HeapAccount& mapped() { return mapped_; }
  const HeapAccount& mapped() const { return mapped_; }

  /// Needs no lock.
  BlockRequest request_of(std::size_t size, std::size_t alignment) const {
    return request_of(size, alignment, unit_bytes());
  }
  /// The same for a heap that lies in no buffer.
  static BlockRequest request_in_pages(std::size_t size, std::size_t alignment) {
    return request_of(size, alignment, kPageBytes);
  }
  /// \returns the class that serves a size of usual alignment. \pre the size is at most 256 KiB.
  static SizeClass class_for(std::size_t size) { return class_of_size(size); }
  /// Whether a block with a slab of its own would exceed a limit of mapped bytes, whatever else goes back.
  bool is_beyond_limit(const BlockRequest& request) const {
    return request.block_bytes > mapped_.room() + mapped_.own();
  }

  /// Whether the slabs of a class have so much free that blocks in magazines should join it, so that slabs
  /// end: they hold more than twice what is taken, and some pages more.
  bool is_past_its_peak(SizeClass size_class) const {
    const OfClass& of = of_class(size_class);
    return std::size_t{1024} * of.slab_kib >
           std::size_t{2} * of.taken * class_geometry[size_class].block_bytes + kFewPages * kPageBytes;
  }

  /// Whether a limit of mapped bytes leaves so little that a size is better served by mixed pages.
  bool is_short_of_pages() const { return mapped_.room() < kFewPages * kPageBytes; }

  /// \returns nullptr when memory is refused.
  void* take_block(const BlockRequest& request, ReturnedPages& returned);
  /// From now on blocks may lie in magazines, so that a bit no longer says that a block lives: slabs of the
  /// classes that have stacks get a byte for each block. A slab that is refused memory for them gives and
  /// takes no block of a magazine.
  void keep_lives();
  /// From now on few of a size lie in mixed pages although a slab has free blocks, so that it empties; and no
  /// longer so.
  void prefer_mixed_pages() { prefers_mixed_pages_ = true; }
  void prefer_slabs() { prefers_mixed_pages_ = false; }
  /// Takes several from slabs of the request's class. Threads of different places get blocks that lie apart,
  /// and whose bytes do: else they would write the same cache lines. \returns how many. \pre it has stacks;
  /// lives are kept.
  unsigned take_blocks(const BlockRequest& request, FreeBlock* blocks, unsigned count, std::uint32_t place,
                       ReturnedPages& returned);
  /// Ends a block's life, also in a slab without lives; stops the process when the pointer is no live block.
  /// \returns the byte, or nullptr.
  std::uint8_t* end_life(void* block) const;
  /// The same when the block's place is known. Needs no lock while no slab with a live block ends. \why an
  /// exchange: of two threads that free a block at once, one finds that.
  void end_life(std::uint8_t* is_live, const void* block) const {
    if (__atomic_exchange_n(is_live, 0, __ATOMIC_RELAXED) == 0) [[unlikely]]
      stop("double free", block);
  }

  /// Frees a live block; stops the process when the pointer is none. \returns the block's bytes.
  std::size_t take_back(void* block, ReturnedPages& returned);

  /// \returns the bytes of a live block; stops the process when the pointer is none.
  std::size_t block_bytes(const void* block) const;
  /// \returns the request that would be served by a block like this live one; stops the process as above.
  BlockRequest request_of_block(const void* block) const;

  /// \returns the slab that holds an address; nullptr: no slab of the heap does.
  Span* find(const void* pointer) const {
    Span* const span = lies_in_buffer() ? buffer_.find(pointer) : page_map.find(pointer);
    return span != nullptr && span->unmarked_pool() == pool_ ? span : nullptr;
  }
  Span* find_in_buffer(const void* pointer) const { return buffer_.find(pointer); }

  /// Frees all live blocks.
  void retire_all(ReturnedPages& returned);

  /// \returns whether a block of a magazine is one of a slab of the class that is not free there.
  bool is_taken(const FreeBlock& block, SizeClass size_class) const;

  /// Adds the live blocks of slabs and mixed pages behind an address, the lowest first
  /// (PoolOperations::add_live). \pre no block is in a thread's hands between its slab and a stack.
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
  static constexpr std::size_t kFewPages = 4;

  static BlockRequest request_of(std::size_t size, std::size_t alignment, std::size_t unit) {
    // Tiny blocks are aligned less.
    if (alignment > detail::kTinyLimit && size <= detail::kTinyLimit) size = detail::kTinyLimit + 1;
    if (size <= detail::kMediumLimit && alignment <= unit) {
      const SizeClass size_class =
          alignment <= 16 ? class_of_size(size) : aligned_class_of(kClassesInUse, size, alignment);
      if (size_class != SizeClass::kNone)
        return {size_class, class_geometry[size_class].block_bytes, alignment};
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
  bool begin_lives(Span& slab);
  static unsigned take_from_word(Span& slab, std::uint32_t first_word, FreeBlock* blocks, unsigned wanted);
  void list_slab(Span& slab);
  void note_taken(Span& slab, unsigned count);
  void place_slab(Span& slab, bool was_full);
  void* take_mixed(std::size_t bytes);
  void free_at_hand();
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
  bool keeps_lives_ = false;
  bool prefers_mixed_pages_ = false;
  BufferPages buffer_;
  HeapAccount mapped_;
  List<Span> full_;
  List<Span> spare_;       // single pages
  List<Span> quarantine_;  // oldest first, all poisoned
  std::size_t quarantined_bytes_ = 0;
  /// The blocks of a size in mixed pages.
  struct Mixed {
    static constexpr unsigned kMostAtHand = 2;

    bool is_at_hand(BlockIndex block) const {
      for (unsigned i = 0; i < at_hand_count; ++i)
        if (at_hand[i] == number_of(block)) return true;
      return false;
    }

    std::uint16_t live_count = 0;
    std::uint8_t at_hand_count = 0;
    std::uint16_t at_hand[kMostAtHand] = {};  // freed, in the first mixed page, whose bits do not say so
  };
  static constexpr std::size_t kMixedSizes = mixed_page::kLargestBlock / mixed_page::kGranuleBytes + 1;

  Mixed& mixed_of(std::size_t bytes) { return mixed_of_[bytes / mixed_page::kGranuleBytes]; }
  const Mixed& mixed_of(std::size_t bytes) const { return mixed_of_[bytes / mixed_page::kGranuleBytes]; }

  struct OfClass {
    List<Span> available;
    std::uint32_t slab_kib = 0;  // of all its slabs
    std::uint32_t taken = 0;     // blocks that no slab has: live ones, and those in magazines
  };

  static SizeClass class_of(const Span& slab) { return slab.size_class.load(std::memory_order_relaxed); }
  OfClass& of_class(SizeClass size_class) { return of_[index_of_class(size_class)]; }
  const OfClass& of_class(SizeClass size_class) const { return of_[index_of_class(size_class)]; }
  OfClass& of_class(const Span& slab) { return of_class(class_of(slab)); }

  List<Span> mixed_;
  Mixed mixed_of_[kMixedSizes];
  OfClass of_[kBinCount];
};

}  // namespace tarn::internal
