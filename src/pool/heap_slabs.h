// The slabs of a heap: with the general pool's size classes, in pages of the page cache or in a buffer of the
// caller's.
//
// A block above 256 KiB, or aligned beyond a slab's, is a slab of one block and of no class. One empty slab
// of a class stays, against making and ending one in turn. Under a memory checker slabs that end first wait
// in `quarantine`, so that a use of what has ended meets its mark and no other block.
//
// Invariant: a slab is in `available` of its class when it has free blocks and in `full` otherwise;
// mapped_bytes is the sum of the bytes of these slabs, of those in quarantine and of the spare pages.
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

namespace tarn::internal {

/// What a heap is asked for.
struct BlockRequest {
  SizeClass size_class;  // kNone: a slab of its own
  std::size_t block_bytes;
  std::size_t alignment;
};

class HeapSlabs {
 public:
  /// Once, before all else. \param buffer nullptr: the page cache. \returns false when a buffer is too small
  /// or memory for its tables is refused.
  bool begin(PoolHeader& pool, void* buffer, std::size_t buffer_bytes, bool poisons);
  /// Ends all slabs. \pre the heap ends.
  void end(ReturnedPages& returned);

  bool lies_in_buffer() const { return buffer_.is_active(); }
  bool poisons() const { return poisons_; }
  std::size_t mapped_bytes() const { return mapped_bytes_; }

  /// Needs no lock.
  BlockRequest request_of(std::size_t size, std::size_t alignment) const {
    const std::size_t unit = unit_bytes();
    // Tiny ones have less.
    if (alignment > detail::kTinyLimit && size <= detail::kTinyLimit) size = detail::kTinyLimit + 1;
    if (size <= detail::kMediumLimit && alignment <= unit) {
      const SizeClass size_class = alignment <= 16 ? detail::class_of_bin[detail::bin_of(size)]
                                                   : aligned_class_of(detail::class_of_bin, size, alignment);
      if (size_class != SizeClass::kNone) return {size_class, class_geometry[size_class].block_bytes, unit};
    }
    return {SizeClass::kNone, round_up(size == 0 ? 1 : size, unit), alignment < unit ? unit : alignment};
  }

  /// \returns nullptr when memory is refused.
  void* take_block(const BlockRequest& request, ReturnedPages& returned);

  /// Takes a live block back; stops the process when it is none. \returns its bytes.
  std::size_t take_back(void* block, ReturnedPages& returned);

  /// Bytes of a live block; stops the process when it is none.
  std::size_t block_bytes(const void* block) const;

  /// The slab that holds an address; nullptr: none of the heap.
  Span* find(const void* pointer) const {
    Span* const span = lies_in_buffer() ? buffer_.find(pointer) : page_map.find(pointer);
    return span != nullptr && span->marked_pool() == pool_ ? span : nullptr;
  }
  Span* find_in_buffer(const void* pointer) const { return buffer_.find(pointer); }

  /// Ends all live blocks.
  void retire_all(ReturnedPages& returned);

  /// Gives back what holds no live block. \returns bytes.
  std::size_t release_unused(ReturnedPages& returned);

  /// A page taken ahead of need, backed; nullptr when memory is refused. No lock is held.
  static Span* make_spare();
  void add_spare(Span* page);

  /// Stops the process where the invariant does not hold or other blocks are live.
  void validate(std::size_t live_bytes, std::size_t live_count) const;

 private:
  std::size_t unit_bytes() const { return lies_in_buffer() ? BufferPages::kUnitBytes : kPageBytes; }
  /// A slab's size lies in `pages`, in units of its heap.
  std::size_t slab_bytes(const Span& slab) const { return slab.pages * unit_bytes(); }
  std::size_t block_bytes_of(const Span& slab) const;
  /// How a slab for the request is cut.
  struct Shape {
    std::size_t bytes;
    std::size_t stride;
  };
  Shape shape_of(const BlockRequest& request) const;

  Span* take_span(std::uint32_t words, std::size_t bytes, std::size_t alignment);
  Span* take_spare(std::uint32_t words);
  Span* make_slab(const BlockRequest& request, const Shape& shape);
  Span* make_any_slab(const BlockRequest& request);
  Span* make_slab_or_room(const BlockRequest& request, ReturnedPages& returned);
  void end_slab(Span* slab, ReturnedPages& returned);
  void retire_slab(Span* slab, ReturnedPages& returned);
  void retire_list(List<Span>& slabs, ReturnedPages& returned);
  void end_quarantine(std::size_t bytes_to_keep, const Span* slab_to_keep, ReturnedPages& returned);
  void end_empty_slabs(ReturnedPages& returned);
  void end_all_spare(ReturnedPages& returned);

  Span& slab_of_block(const void* block, std::uint32_t* index) const;
  bool is_worth_keeping(const Span& slab) const;
  void validate_slab(const Span& slab) const;
  [[noreturn]] void stop(const char* what, const void* block) const;

  PoolHeader* pool_ = nullptr;
  bool poisons_ = false;
  BufferPages buffer_;
  std::size_t mapped_bytes_ = 0;
  List<Span> full_;
  List<Span> spare_;       // single pages
  List<Span> quarantine_;  // the oldest first, all of them poisoned
  std::size_t quarantined_bytes_ = 0;
  List<Span> available_[kBinCount];
};

}  // namespace tarn::internal
