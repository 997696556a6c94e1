// The slabs of a heap: of the general pool's size classes, in pages of the page cache or in a caller's
// buffer.
//
// A block above 256 KiB, or aligned beyond a slab's alignment, has a slab of its own, of no class. Each class
// keeps one empty slab, so that a free and an allocation in turn do not end and make one. Under a memory
// checker, ended slabs first wait in `quarantine`, so that a use after free meets poison, not another block.
//
// Invariant: a slab is in `available` of its class when it has free blocks and in `full` otherwise;
// mapped_bytes is the sum of the bytes of these slabs, of the slabs in quarantine and of the spare pages.
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

/// A request to a heap.
struct BlockRequest {
  SizeClass size_class;  // kNone: a slab of its own
  std::size_t block_bytes;
  std::size_t alignment;
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
  std::size_t mapped_bytes() const { return mapped_bytes_; }

  /// Needs no lock.
  BlockRequest request_of(std::size_t size, std::size_t alignment) const {
    const std::size_t unit = unit_bytes();
    // Tiny blocks are aligned less.
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

  /// Frees a live block; stops the process when the pointer is none. \returns the block's bytes.
  std::size_t take_back(void* block, ReturnedPages& returned);

  /// \returns the bytes of a live block; stops the process when the pointer is none.
  std::size_t block_bytes(const void* block) const;

  /// \returns the slab that holds an address; nullptr: no slab of the heap does.
  Span* find(const void* pointer) const {
    Span* const span = lies_in_buffer() ? buffer_.find(pointer) : page_map.find(pointer);
    return span != nullptr && span->marked_pool() == pool_ ? span : nullptr;
  }
  Span* find_in_buffer(const void* pointer) const { return buffer_.find(pointer); }

  /// Frees all live blocks.
  void retire_all(ReturnedPages& returned);

  /// Gives slabs and pages without live blocks back. \returns bytes.
  std::size_t release_unused(ReturnedPages& returned);

  /// Makes a page ahead of need, backed; nullptr when memory is refused. No lock is held.
  static Span* make_spare();
  void add_spare(Span* page);

  /// Stops the process when the invariant is broken or the live blocks differ from the arguments.
  void validate(std::size_t live_bytes, std::size_t live_count) const;

 private:
  std::size_t unit_bytes() const { return lies_in_buffer() ? BufferPages::kUnitBytes : kPageBytes; }
  std::size_t slab_bytes(const Span& slab) const {
    return lies_in_buffer() ? slab.buffer_units * BufferPages::kUnitBytes : slab.bytes();
  }
  std::size_t block_bytes_of(const Span& slab) const;
  /// The measures of a slab for a request.
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

  Span& slab_of_block(const void* block, BlockIndex* index) const;
  bool is_worth_keeping(const Span& slab) const;
  void validate_slab(const Span& slab) const;
  [[noreturn]] void stop(const char* what, const void* block) const;

  PoolHeader* pool_ = nullptr;
  bool poisons_ = false;
  BufferPages buffer_;
  std::size_t mapped_bytes_ = 0;
  List<Span> full_;
  List<Span> spare_;       // single pages
  List<Span> quarantine_;  // oldest first, all poisoned
  std::size_t quarantined_bytes_ = 0;
  List<Span> available_[kBinCount];
};

}  // namespace tarn::internal
