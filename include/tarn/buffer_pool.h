// Buffers of any size, as of packets: a shared fixed pool for each of some sizes, by default a doubling each,
// and a heap for what is larger. A buffer is a plain block, or a SharedBuffer, whose references are counted.
//
// The sizes are those of the blocks: there is no header in or before a block, so a size of 2,048 bytes holds
// a packet of 2,048, and all blocks are aligned to a cache line. Each size has a cap and counts of its own.
//
// Threads: any. One thread makes and ends the pool, and no other uses it meanwhile.
// Errors: a pool that may not or cannot grow calls its hook, then returns nullptr (or an empty handle) or
// throws std::bad_alloc, as its options say. A wrong pointer stops the process with one line
// (docs/safety.md). A pool that ends before its buffers reports them, and they stay valid.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tarn/detail/error.h"
#include "tarn/detail/pool_name.h"
#include "tarn/fixed_pool.h"
#include "tarn/hooks.h"
#include "tarn/shared_buffer.h"

namespace TARN_NAMESPACE {

/// What happens to requests that are larger than all sizes of a pool.
enum class AboveLargest : std::uint8_t {
  kHeap,    // a heap of the pool's own serves them: pages of the page cache, counted exactly, one mutex
  kRefuse,  // they are refused
};

struct BufferSize {
  std::size_t bytes = 0;                 // 1 .. 262144
  std::size_t largest_count = SIZE_MAX;  // the most blocks of this size
};

/// Sizes side by side, of an array, std::array, std::vector or std::span. \why no std::span: its header
/// has twice the lines of this one.
class BufferSizes {
 public:
  constexpr BufferSizes() noexcept = default;
  constexpr BufferSizes(const BufferSize* first, std::size_t count) noexcept : first_(first), count_(count) {}
  template <std::size_t kCount>
  constexpr BufferSizes(const BufferSize (&sizes)[kCount]) noexcept : first_(sizes), count_(kCount) {}
  template <typename Range>
  requires requires(const Range& range) {
    requires std::same_as<std::remove_cvref_t<decltype(*range.data())>, BufferSize>;
    { range.size() } -> std::convertible_to<std::size_t>;
  }
  constexpr BufferSizes(const Range& range) noexcept : first_(range.data()), count_(range.size()) {}

  constexpr const BufferSize* begin() const noexcept { return first_; }
  constexpr const BufferSize* end() const noexcept { return first_ + count_; }

 private:
  const BufferSize* first_ = nullptr;
  std::size_t count_ = 0;
};

struct BufferPoolOptions {
  PoolName name = {};                 // any string, copied; usually "buffer pool"
  std::size_t smallest_bytes = 64;    // 1 .. 262144; sizes double from this one up to
  std::size_t largest_bytes = 16384;  // .. 262144; the last size, whether it is a doubling or not
  /// In place of the doublings: up to 32 sizes, in ascending order. Read by the constructor only.
  BufferSizes sizes = {};
  // A power of two up to 65536; sizes are rounded up to multiples of it, and of 8. Two that become the same
  // are an error.
  std::size_t alignment = 64;
  std::size_t largest_count = SIZE_MAX;       // of each size: the most blocks,
  std::size_t largest_size_bytes = SIZE_MAX;  // and the most bytes of all its blocks
  std::size_t chunk_bytes = 0;  // a size grows by so many, at least a block; 0: as a fixed pool does
  AboveLargest above = AboveLargest::kHeap;
  std::size_t largest_above_bytes = SIZE_MAX;  // the most live bytes of larger blocks
  AtCap at_cap = AtCap::kReturnNull;
  AtPoolEnd at_end = AtPoolEnd::kReport;
  /// Called when a cap or the system refuses a block, before the pool returns nullptr or throws
  /// std::bad_alloc. The hook may free blocks of the pool, but only the next call gets them. No lock is held
  /// during the call.
  void (*on_refusal)(void* context) = nullptr;
  void* context = nullptr;
  bool sensitive = false;  // as FixedPoolOptions::sensitive, of blocks of all sizes and larger ones
};

/// The memory of one size, or of all larger blocks.
struct BufferUse {
  std::size_t block_bytes;  // the size; 0: of larger blocks
  std::size_t live_count;
  std::size_t live_bytes;
  /// The most that were live at one time, and what threads had cached then.
  std::size_t peak_live_bytes;
  std::size_t capacity;  // blocks that exist, live or not; of larger blocks, the live ones
  std::size_t mapped_bytes;
  std::size_t refusals;  // requests that got no block
};

namespace detail {

/// The first members of a buffer pool's record, which the inlined calls read. A hit is one of the thread's
/// record of the size's class. All else is for the calls in the library: larger blocks, blocks of malloc,
/// checked pools and errors. Invariant: sizes ascend, and lie side by side.
/// Threads: any; constant once the pool is made.
struct BufferPoolFront {
  static constexpr unsigned kDoublings = 64;  // of any request, so that compilers see no bound exceeded
  static constexpr unsigned kNearClasses = 256;

  std::size_t largest;                        // bytes
  SharedPoolFront* first_larger[kDoublings];  // than this power of two
  // Which classes are the pool's, as far as they lie near the first one.
  std::size_t first_class;
  bool has_class[kNearClasses];

  /// \returns the smallest size for so many bytes. \pre 1 <= bytes <= largest.
  TARN_INLINE SharedPoolFront& size_for(std::size_t bytes) const {
    constexpr unsigned kHighestBit = 63;
    SharedPoolFront* size = first_larger[kHighestBit - leading_zeros((bytes - 1) | 1)];
    while (size->stride < bytes) ++size;
    return *size;
  }
  TARN_INLINE bool has_size_for(std::size_t bytes) const { return bytes - 1 < largest; }
  /// Whether a record is of one of the pool's classes; false also of one far from the first.
  TARN_INLINE bool has_record_at(RecordPlace place) const {
    const std::size_t nth = number_of(place) / (sizeof(Record) / 8) - first_class;
    return nth < kNearClasses && has_class[nth];
  }
};

/// \returns a block of the smallest size; nullptr where that is not for the inlined calls.
TARN_INLINE void* buffer_pool_allocate_hit(BufferPoolFront& pool, std::size_t bytes) {
  if (!pool.has_size_for(bytes)) [[unlikely]]
    return nullptr;
  return pop(own_cache(), pool.size_for(bytes).place);
}

/// Frees a plain block. \returns false where that is not for the inlined calls: nothing has happened then.
TARN_INLINE bool buffer_pool_deallocate_hit(const BufferPoolFront& pool, void* block) {
  ThreadCache* const cache = own_cache();
  const RecordPlace place = record_of(cache, block);
  return pool.has_record_at(place) && push(cache, place, block);
}

/// The same. \param bytes that the block's size is for, if it is for the inlined calls.
TARN_INLINE bool buffer_pool_deallocate_hit(const BufferPoolFront& pool, void* block, std::size_t bytes) {
  if (!pool.has_size_for(bytes)) [[unlikely]]
    return false;
  ThreadCache* const cache = own_cache();
  const RecordPlace place = pool.size_for(bytes).place;
  return record_of(cache, block) == place && push(cache, place, block);
}

struct BufferPoolState;
struct BufferPoolAccess;

TARN_API BufferPoolState* make_buffer_pool(const BufferPoolOptions& options, bool poisons) noexcept;
/// \returns the first members of the record.
TARN_API BufferPoolFront* buffer_pool_front(BufferPoolState* state) noexcept;
TARN_API void end_buffer_pool(BufferPoolState* state) noexcept;
TARN_API void* buffer_pool_allocate(BufferPoolState* state, std::size_t bytes) noexcept;
/// nullptr is ignored.
TARN_API void buffer_pool_deallocate(BufferPoolState* state, void* block) noexcept;
/// As block_pool_check_free.
TARN_API void buffer_pool_check_free(BufferPoolState* state, const void* block) noexcept;
TARN_API std::size_t buffer_pool_allocate_batch(BufferPoolState* state, std::size_t bytes, std::size_t count,
                                                void** blocks) noexcept;
TARN_API void buffer_pool_deallocate_batch(BufferPoolState* state, void* const* blocks,
                                           std::size_t count) noexcept;
/// \post handle->others is nullptr when the buffer was refused.
TARN_API void buffer_pool_allocate_shared(BufferPoolState* state, std::size_t bytes,
                                          BufferHandle* handle) noexcept;
TARN_API void buffer_pool_refused(BufferPoolState* state) noexcept;
TARN_API bool buffer_pool_throws(const BufferPoolState* state) noexcept;
TARN_API bool buffer_pool_owns(const BufferPoolState* state, const void* pointer) noexcept;
TARN_API std::size_t buffer_pool_good_size(const BufferPoolState* state, std::size_t bytes) noexcept;
TARN_API std::size_t buffer_pool_reserve(BufferPoolState* state, std::size_t bytes, std::size_t count,
                                         bool populates) noexcept;
TARN_API std::size_t buffer_pool_release_unused(BufferPoolState* state) noexcept;
TARN_API std::size_t buffer_pool_size_count(const BufferPoolState* state) noexcept;
/// \param index size_count() for the larger blocks.
TARN_API BufferUse buffer_pool_use(const BufferPoolState* state, std::size_t index) noexcept;

}  // namespace detail

class BufferPool {
 public:
  /// \throws std::bad_alloc when memory is refused or an option is out of its range.
  TARN_LOCAL explicit BufferPool(const BufferPoolOptions& options = {})
      : state_(detail::make_buffer_pool(options, detail::kPoisonsFreeBlocks)) {
    if (state_ == nullptr) detail::throw_bad_alloc();
    front_ = detail::buffer_pool_front(state_);
  }
  /// \param name any string, copied.
  template <std::convertible_to<PoolName> Name>
  TARN_LOCAL explicit BufferPool(const Name& name) : BufferPool(BufferPoolOptions{.name = name}) {}
  /// The option at_end decides the fate of live buffers. When they stay valid, the pool's memory does until
  /// the process ends; trim() gives back what is unused of it. \pre no other thread uses the pool any more,
  /// but its buffers.
  TARN_LOCAL ~BufferPool() { detail::end_buffer_pool(state_); }
  BufferPool(const BufferPool&) = delete;  // pools stay in place: std::deque, std::list, unique_ptr
  BufferPool& operator=(const BufferPool&) = delete;
  template <std::same_as<BufferPool> Moved>
  BufferPool(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \returns a block of the smallest size that has at least `bytes`, contents undefined; its references are
  /// not counted. \cost inlined: a hit of the thread's magazine of that size; of a size with a cap a call.
  [[nodiscard]] TARN_INLINE void* allocate(std::size_t bytes) {
    void* block = detail::buffer_pool_allocate_hit(*front_, bytes);
    if (block == nullptr) [[unlikely]] {
      block = detail::buffer_pool_allocate(state_, bytes);
      if (block == nullptr) return refuse();
    }
    detail::profile_allocation(block, bytes);
    return block;
  }
  /// Frees a plain block, from any thread; nullptr is ignored. tarn::deallocate does the same.
  /// \pre a block of this pool that no SharedBuffer refers to.
  /// \cost inlined: the index of pages and a push to the thread's magazine; of a size with a cap a call.
  TARN_INLINE void deallocate(void* block) noexcept {
    if constexpr (detail::kChecksFrees) detail::buffer_pool_check_free(state_, block);
    if (block != nullptr) detail::profile_deallocation(block);
    if (!detail::buffer_pool_deallocate_hit(*front_, block)) [[unlikely]]
      detail::buffer_pool_deallocate(state_, block);
  }
  /// The same, a little faster. \param bytes those asked for; others are no error, but cost a call.
  TARN_INLINE void deallocate(void* block, std::size_t bytes) noexcept {
    if constexpr (detail::kChecksFrees) detail::buffer_pool_check_free(state_, block);
    if (block != nullptr) detail::profile_deallocation(block);
    if (!detail::buffer_pool_deallocate_hit(*front_, block, bytes)) [[unlikely]]
      detail::buffer_pool_deallocate(state_, block);
  }

  /// Fills `blocks` with up to `count` plain blocks for `bytes` bytes each. \returns how many there are:
  /// fewer only at a cap or when memory is refused, and then without a throw. \cost as the batch of a
  /// SharedFixedPool; of larger blocks than all sizes, a call for each.
  [[nodiscard]] TARN_LOCAL std::size_t allocate_batch(std::size_t bytes, std::size_t count,
                                                      void** blocks) noexcept {
    const std::size_t taken = detail::buffer_pool_allocate_batch(state_, bytes, count, blocks);
    for (std::size_t i = 0; i < taken; ++i) detail::profile_allocation(blocks[i], bytes);
    if (taken != count) detail::buffer_pool_refused(state_);
    return taken;
  }
  /// Frees plain blocks of any sizes; nullptr is ignored. \cost that of the batches of SharedFixedPools, one
  /// for blocks in a row that are of one size.
  TARN_LOCAL void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
    if constexpr (detail::kChecksFrees) {
      for (std::size_t i = 0; i < count; ++i) deallocate(blocks[i]);
      return;
    }
    for (std::size_t i = 0; i < count; ++i)
      if (blocks[i] != nullptr) detail::profile_deallocation(blocks[i]);
    detail::buffer_pool_deallocate_batch(state_, blocks, count);
  }

  /// \returns the only handle to a buffer of `bytes` bytes, less than 4 GiB, contents undefined; an empty one
  /// when it is refused. \cost as allocate(), and a look-up of its count.
  [[nodiscard]] TARN_LOCAL SharedBuffer allocate_shared(std::size_t bytes) {
    detail::BufferHandle handle;
    detail::buffer_pool_allocate_shared(state_, bytes, &handle);
    if (handle.others == nullptr) refuse();
    if (handle.others != nullptr) detail::profile_allocation(handle.data, bytes);
    return SharedBuffer(handle);
  }

  /// \returns whether an address lies in the pool's memory.
  TARN_LOCAL bool owns(const void* pointer) const noexcept {
    return detail::buffer_pool_owns(state_, pointer);
  }

  /// \returns how many bytes a block of a request may hold; `bytes` itself when no size is as large.
  TARN_LOCAL std::size_t good_size(std::size_t bytes) const noexcept {
    return detail::buffer_pool_good_size(state_, bytes);
  }

  /// Grows until at least `count` blocks of the size that serves `bytes` are usable. \returns how many are
  /// usable; fewer at a cap or when memory is refused, 0 when no size is as large.
  TARN_LOCAL std::size_t reserve(std::size_t bytes, std::size_t count) noexcept {
    return detail::buffer_pool_reserve(state_, bytes, count, false);
  }
  /// The same, with all blocks of the size backed by memory, so that no first touch faults.
  TARN_LOCAL std::size_t prewarm(std::size_t bytes, std::size_t count) noexcept {
    return detail::buffer_pool_reserve(state_, bytes, count, true);
  }

  /// Gives memory without live blocks back to the page cache. \returns its bytes.
  TARN_LOCAL std::size_t release_unused() noexcept { return detail::buffer_pool_release_unused(state_); }

  TARN_LOCAL std::size_t size_count() const noexcept { return detail::buffer_pool_size_count(state_); }
  /// The live figures are exact at the moment of the call. \pre index < size_count(); sizes ascend.
  TARN_LOCAL BufferUse use(std::size_t index) const noexcept {
    return detail::buffer_pool_use(state_, index);
  }
  /// The same for all blocks that are larger than every size.
  TARN_LOCAL BufferUse use_above() const noexcept { return use(size_count()); }

 private:
  friend struct detail::BufferPoolAccess;

  TARN_COLD TARN_NOINLINE TARN_LOCAL void* refuse() {
    detail::buffer_pool_refused(state_);
    if (detail::buffer_pool_throws(state_)) detail::throw_bad_alloc();
    return nullptr;
  }

  detail::BufferPoolState* state_;
  detail::BufferPoolFront* front_;
};

}  // namespace TARN_NAMESPACE
