// Free blocks of a shared fixed pool at hand for each thread, so that threads do not wait for one mutex at
// each call (idea: the magazines and depot of J. Bonwick and J. Adams, "Magazines and Vmem", 2001). A pool
// begins without them: while one thread uses it, its mutex costs little more.
//
// A free block is in one place: a one in its chunk's word, or an entry of a magazine or of the depot. What
// an entry names has the bit 0, like a live block, so a byte for each block says whether it is live. That
// byte is exchanged by the free, which finds each block that is freed twice.
//
// allocate takes the entry on top of the thread's magazine; an empty one takes entries of the depot, then
// bits, then new chunks; then, before a refusal, what is in all other magazines. deallocate puts an entry on
// top; a full magazine moves its older half to the depot, a full depot its older half to the bits. Blocks
// that one thread makes and another frees go through the depot without a look at their chunks.
//
// When such a look finds few blocks, blocks are scarce: until the depot has enough again, frees put entries
// there and allocations take one, under the pool's mutex, and no magazine has any. So a pool at its cap
// refuses without a look at all magazines, and what one thread frees the next one has.
//
// Invariant: ones + entries == free blocks of the pool; an entry's byte is 0; a one's byte is 0; while
// blocks are scarce, magazines are empty.
// Threads: any. The depot, and the list of magazines, are under the pool's mutex. A magazine is its thread's
// while that is inside of the magazine's lock, or holds the pool's mutex; and any thread's that holds the
// pool's mutex and has visited the lock. So a refusal sees all free blocks at once. A thread that ends
// leaves its magazines to the next that gets its heap.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "base/units.h"
#include "pool/fixed_pool_state.h"
#include "pool/magazine_list.h"

namespace tarn::internal {

class alignas(kCacheLineBytes) ThreadMagazines {
 public:
  static constexpr unsigned kMagazineBlocks = 64;
  static constexpr unsigned kDepotMagazines = 4;
  static constexpr std::size_t kMagazineBytes = 256 * 1024;  // of larger blocks, fewer

  /// \returns nullptr when memory is refused, or no slot for threads' tables is left. \pre the registry's
  /// lock and the pool's mutex are held.
  static ThreadMagazines* make(detail::FixedPoolState& pool);
  /// Forgets all entries and ends the record. \pre no other thread uses the pool.
  void end();

  /// \returns nullptr when no block of the pool is free, and it cannot grow.
  void* allocate();
  /// \returns how many blocks there are; fewer than `count` only when no more were free.
  std::size_t allocate_batch(std::size_t count, void** blocks);
  /// Stops the process when the pointer is no live block of the pool.
  void deallocate(void* block);
  void deallocate_batch(void* const* blocks, std::size_t count);
  /// The same of a buffer pool; stops the process also when the block has references.
  /// \param span the block's, as the page map has it.
  void deallocate_plain_buffer(const detail::SpanHead& span, void* block);
  /// The same, of a block whose references have been counted down.
  void deallocate_shared_buffer(const detail::SpanHead& span, void* block);

  /// \returns the free blocks among the entries; while threads use the pool, of no single moment.
  std::size_t count() const;

  /// Keeps all threads from their magazines. \pre the pool's mutex is held.
  void visit_all() { list_.visit_all(); }
  void leave_all() { list_.leave_all(); }
  /// Moves all entries to their chunks' words. \pre all are visited. \returns how many.
  std::size_t empty();
  /// Call when blocks have become free as bits. \pre the pool's mutex is held.
  void note_freed_bits() { is_scarce_ = false; }

  /// Stops the process when the invariant is broken. \pre no other thread uses the pool.
  void validate();

 private:
  struct alignas(kCacheLineBytes) Magazine : ListedMagazine<Magazine> {
    std::atomic<std::uint32_t> count{0};
    FreeEntry entries[kMagazineBlocks];
  };

  ThreadMagazines(detail::FixedPoolState& pool, std::uint32_t slot);

  /// Whether a block that is freed may have references: only a buffer's are counted.
  enum class References : bool { kNotCounted, kMustBeNone };

  template <References kReferences>
  std::uint8_t* end_life(const detail::SpanHead* span, void* block) const;
  template <References kReferences>
  std::uint8_t* end_life_at(const detail::SpanHead& span, std::uint64_t index, void* block) const;
  template <References kReferences>
  [[gnu::noinline]] void deallocate_marked(void* block);
  template <References kReferences>
  void deallocate_with(const detail::SpanHead* span, void* block);
  class LivesToEnd;
  const detail::SpanHead& place_of(const detail::SpanHead* span, void* block, std::uint64_t* index) const;
  static void* take(Magazine& magazine);
  static std::size_t take_several(Magazine& magazine, std::size_t count, void** blocks);
  std::size_t put_several(Magazine& magazine, void* const* blocks, std::size_t count);
  static void put(Magazine& magazine, void* block, std::uint8_t* is_live);
  [[gnu::noinline]] void* allocate_slow(Magazine* magazine);
  void* take_or_gather(Magazine* magazine);
  template <References kReferences>
  [[gnu::noinline]] void deallocate_slow(Magazine* magazine, const detail::SpanHead* span, void* block);
  void* take_or_fill(Magazine* magazine);
  void* take_one();
  bool fill(Magazine& magazine);
  std::uint32_t enough() const;
  void keep_in_depot(const FreeEntry* entries, std::uint32_t count);
  std::uint32_t take_from_depot(FreeEntry* entries, std::uint32_t most);

  detail::FixedPoolState& pool_;
  MagazineList<Magazine> list_;
  const std::uint32_t limit_;  // of entries in a magazine
  const std::uint32_t moved_;  // of entries that a magazine gives to the depot, and mostly takes from it
  Relaxed<bool> is_scarce_;    // changes under the pool's mutex; begins when all are visited
  const std::uint64_t reciprocal_;
  const detail::SpanTable spans_;

  // Under the pool's mutex.
  alignas(kCacheLineBytes) Relaxed<std::uint32_t> depot_count_;
  FreeEntry depot_[kDepotMagazines * kMagazineBlocks];  // the oldest first
};

/// Gives a pool of several threads its magazines, unless it has them or memory is refused.
void make_magazines(detail::FixedPoolState& state);

/// Keeps all other threads from a pool; of a pool of one thread, nobody.
class WholePoolGuard {
 public:
  explicit WholePoolGuard(const detail::FixedPoolFront& front);
  ~WholePoolGuard();
  WholePoolGuard(const WholePoolGuard&) = delete;
  WholePoolGuard& operator=(const WholePoolGuard&) = delete;

 private:
  detail::FixedPoolState* pool_ = nullptr;  // nullptr: nothing is locked
  ThreadMagazines* magazines_ = nullptr;
};

}  // namespace tarn::internal
