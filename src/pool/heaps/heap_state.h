// The library's record of a heap, its limits, and its blocks that no size class serves: of its own pages, or
// of malloc, each (the option pools_use_malloc).
//
// Invariant, with the mutex held: taken_count and taken_bytes are of the live blocks of no class; these
// bytes and what the owner's slabs gave out (heap_classes.h) are charged to the account. Over malloc they
// also count blocks that are being made or freed: malloc may be ours, so no lock is held around it.
// Threads: any; the heap's mutex.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "central/slabs/account.h"
#include "general/pools/pool_header.h"
#include "pool/pages/heap_pages.h"
#include "tarn/heap.h"
#include "thread/pools/marked_hits.h"

namespace tarn::internal {

/// Whether a heap is called so much, and so fast, that quicker calls are worth the memory for them, however
/// few of its blocks are live. The clock is read once in many calls; the caller passes the time, so that a
/// test may invent it. Calls must be both many and fast: an old heap has had many, and the first blocks of a
/// heap come fast. Under the heap's mutex.
class CallRate {
 public:
  static constexpr std::uint16_t kCalls = 32 * 1024;
  /// For so many calls. \why With magazines a call takes some 100 to 200 ns less: for 256 calls in 1 ms that
  /// is 3 to 5 % of a processor's time; and each processor can call at most some 100 heaps so fast.
  static constexpr std::uint32_t kMostMs = 128;

  /// Counts a call. \returns whether it is time for look().
  bool note_call() {
    calls_ += calls_ < kCalls;
    return calls_ == kCalls;
  }
  /// Whether the rate is high shows at the second look. Of several threads that bring the time, one looks.
  void look(std::uint64_t now_ms) {
    if (calls_ != kCalls) return;
    const auto now = static_cast<std::uint32_t>(now_ms);
    state_ = state_ != State::kNew && now - looked_ms_ <= kMostMs ? State::kHigh : State::kLow;
    looked_ms_ = now;
    calls_ = 0;
  }
  /// The next looks begin anew.
  void forget() { *this = {}; }
  bool is_high() const { return state_ == State::kHigh; }

 private:
  enum class State : std::uint8_t { kNew, kLow, kHigh };

  std::uint32_t looked_ms_ = 0;  // where it overflows, calls that took 49 days look fast once
  std::uint16_t calls_ = 0;
  State state_ = State::kNew;
};

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

struct HeapState : internal::PoolHeader {
  Heap* heap;
  HeapState* around;  // the heap that this one lies in, or nullptr
  std::atomic<std::uint32_t> heaps_within;
  internal::Account account;
  std::size_t taken_count, taken_bytes;
  bool is_over_malloc;
  bool wipes;  // blocks of its pages that are freed; those of malloc are wiped there (freed_block.h)
  void (*on_soft_limit)(Heap&, void*);
  void* context;
  std::atomic<std::size_t> refusals;  // calls that got no block
  bool is_calling_back;
  internal::Relaxed<bool> may_have_classes;  // and has none yet
  bool caches_nothing;                       // for threads, once heaps lie in it
  internal::Relaxed<bool> is_scarce;         // set under the mutex
  internal::Relaxed<internal::Hits> hits;    // how others are to treat its threads' magazines
  internal::CallRate call_rate;              // until it has an owner
  internal::HeapPages pages;
  /// What every call reads, in a line that is written when the heap gets its owner, and its first limit.
  alignas(internal::kCacheLineBytes) std::atomic<internal::SlabOwner*> owner;
  std::atomic<RecordPlace> first_place;     // of the owner's classes
  internal::Relaxed<bool> are_hits_marked;  // else they are plain
  internal::Relaxed<bool> were_hits_plain;  // before
  char rest_of_line[internal::kCacheLineBytes - 3 * sizeof(void*)];

  // Of a block of no class. \pre the mutex is held.
  void note_taken(std::size_t bytes) {
    ++taken_count;
    taken_bytes += bytes;
  }
  void credit(std::size_t bytes) {
    --taken_count;
    taken_bytes -= bytes;
    account.credit(bytes);
  }
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

/// Makes the record of a heap that no registry has yet; nullptr if memory is refused or a buffer too small.
detail::HeapState* make_heap_state(const HeapOptions& options, const PoolOperations& operations,
                                   bool poisons);

// The operations that heaps have in common.
void deallocate_of_heap(PoolHeader& pool, void* block);
void* reallocate_of_heap(PoolHeader& pool, void* block, std::size_t size);
std::size_t usable_size_in_heap(PoolHeader& pool, const void* block);
PoolUse use_of_heap(PoolHeader& pool, ReturnedPages&);
std::size_t release_unused_of_heap(PoolHeader& pool, ReturnedPages& returned);
bool add_live_of_heap(PoolHeader& pool, std::uintptr_t& behind, LivePicture& picture);
SlabOwner* owner_of_heap(const PoolHeader& pool);

/// All operations but those that only some heaps have: programs resize their blocks, or use them in scopes.
constexpr PoolOperations operations_of_heap(const char* kind) {
  return {.kind = kind,
          .record = PoolRecord::kHeap,
          .deallocate = deallocate_of_heap,
          .usable_size = usable_size_in_heap,
          .use = use_of_heap,
          .release_unused = release_unused_of_heap,
          .add_live = add_live_of_heap,
          .owner = owner_of_heap};
}

// Blocks that no size class serves. No lock is held.

/// Allocates a block and charges the heap; nullptr when a hard limit or the system refuses it.
void* allocate_block(detail::HeapState& state, std::size_t size, std::size_t alignment);
void deallocate_block(detail::HeapState& state, void* block);
/// \returns how many bytes the program may use.
std::size_t block_bytes(detail::HeapState& state, const void* block);
/// Resizes a block of `usable` bytes to `size` in place. \returns false when the block must move.
bool resize_block(detail::HeapState& state, void* block, std::size_t usable, std::size_t size);
bool owns_block(detail::HeapState& state, const void* pointer);
/// \returns bytes taken ahead of need, for classes too.
std::size_t prewarm_pages(detail::HeapState& state, std::size_t bytes);
/// Frees all live blocks; the heap stays usable.
void clear_blocks(detail::HeapState& state);
/// Gives all memory except the record back.
void end_pages(detail::HeapState& state);

/// When all these blocks have ended.
inline void credit_all(detail::HeapState& state) {
  state.account.credit(state.taken_bytes);
  state.taken_count = state.taken_bytes = 0;
}

/// Calls the program's function when an allocation has crossed the soft limit of the heap or one around it.
/// \pre no lock is held.
void note_soft_limits(detail::HeapState& state);

/// Stops the process when the invariant is broken. \pre no other thread uses the heap.
void validate(detail::HeapState& state);

}  // namespace tarn::internal
