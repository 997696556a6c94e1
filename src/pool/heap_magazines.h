// Free blocks of a heap at hand for each thread, and bytes that each may allocate without asking.
//
// A heap begins without magazines. Once threads use it much, and it is no small one, or they wait for each
// other, or they use it very much, each has two stacks of free blocks for each class of up to 32 KiB, one in
// use and one whole or empty (J. Bonwick, J. Adams, "Magazines and Vmem", 2001), and a credit: bytes that the
// heap is charged and that no live block has. A hit takes a block from a stack and its bytes from the credit,
// or gives them back. A miss exchanges a stack with the depot (stack_depot.h), and credit with the pot, which
// holds as much as kPotCredits threads may have: so what one thread frees another allocates without the
// heap's mutex. What is left takes the mutex.
//
// When a heap gives back what it does not use, its magazines rest: they are empty, and a small heap's blocks
// are those of a heap without magazines, until it earns them again.
//
// Limits hold for what is charged, live bytes and credits: so a hard limit is never exceeded. Before a limit
// would refuse a block or be crossed, all credits of the heap's threads are collected; when little is left
// below it then, the heap is scarce: its threads have no credit, and each call counts, until more is left. So
// a soft limit is crossed when live bytes cross it; it can be crossed again once what is charged has been
// below it. Each thread's credit is at most kMostCredit and a part of the lowest limit (kLimitPerCredit). All
// credits together are the error of the peak.
//
// A block in a magazine has the bit 0, as a live one. So each block has a byte that says whether it lives
// (HeapSlabs::keep_lives); the free exchanges it, and finds a double free, also of two threads at once as
// long as the slab lives.
//
// Invariant: charged bytes == live bytes + credits + the pot + those of heaps within; taken_count == live
// blocks + blocks in stacks.
// Threads: as of a MagazineList; the pool's mutex is the heap's.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "base/units.h"
#include "page/page_map.h"
#include "pool/heap_state.h"
#include "pool/magazine_list.h"
#include "pool/stack_depot.h"

namespace tarn::internal {

class alignas(kCacheLineBytes) HeapMagazines {
 public:
  static constexpr std::size_t kMostCredit = 64 * 1024;
  static constexpr std::size_t kLimitPerCredit = 16;  // a credit is at most this part of the lowest limit
  static constexpr std::size_t kPotCredits = 4;       // the pot holds as much as so many threads

  /// \returns nullptr when memory is refused, or no slot for threads' tables is left. \pre the registry's
  /// lock and the heap's mutex are held.
  static HeapMagazines* make(detail::HeapState& heap);
  /// Forgets all blocks and ends the record. \pre no other thread uses the heap.
  void end();

  // Without the mutex.

  /// \returns nullptr when no block is at hand.
  void* take(std::size_t size, std::size_t alignment);
  /// \returns false when the block is to be freed under the mutex.
  bool put(void* block);
  // The same of usual alignment, and of most blocks, where a stack need not be exchanged: they make no call.
  void* take_at_once(std::size_t size);
  bool put_at_once(void* block);

  // Under the heap's mutex.

  /// \returns nullptr when a limit or the system refuses a block.
  void* allocate(const BlockRequest& request, ReturnedPages& returned);
  /// Stops the process when the pointer is no live block of the heap.
  void deallocate(void* block, ReturnedPages& returned);
  /// Call when limits have changed; collect credits then.
  void heed_limits();
  /// From now on each call counts at once.
  void keep_no_credit();
  /// Whether no thread has blocks or credit at hand, or gets any.
  bool is_resting() const { return is_resting_; }
  void end_rest();

  /// \returns the sum of all credits, exact while all magazines are visited, else of no single moment.
  std::size_t credits() const;
  struct Counts {
    std::size_t bytes, count;
  };
  /// \returns the blocks in all stacks, in the same way.
  Counts cached() const;

  /// Stops the process when the invariant is broken. \pre no other thread uses the heap.
  void validate() const;

  void visit_all() {
    list_.visit_all();
    depot_.heed_fork();
  }
  void leave_all() { list_.leave_all(); }
  /// Moves all credits to the heap.
  void collect();
  /// The same, returns all blocks to their slabs, gives back the memory of the stacks, and rests. \pre all
  /// are visited.
  void empty(ReturnedPages& returned);
  /// The same, but forgets the blocks, which have ended. \pre all are visited.
  void forget();

 private:
  struct alignas(kCacheLineBytes) Magazine : ListedMagazine<Magazine> {
    Relaxed<std::size_t> credit;
    StackPair of[StackClasses::kCount];

    // \why asm: else the compiler works out the address anew for each field.
    TARN_INLINE StackPair& of_class(SizeClass size_class) {
      StackPair* pair = of + index_of_class(size_class);
      asm("" : "+r"(pair));
      return *pair;
    }

    Magazine() {
      for (unsigned index = 1; index < StackClasses::kCount; ++index) of[index].begin(index);
    }
  };

  explicit HeapMagazines(detail::HeapState& heap, std::uint32_t slot)
      : heap_(heap), list_(slot, heap.number), spans_(page_map.first_table()) {}

  /// \returns the thread's magazine if it may have blocks like this one; nullptr: none.
  Magazine* magazine_for(const BlockRequest& request) {
    return !is_resting_ && StackClasses::has(request.size_class) ? list_.make_of_this_thread() : nullptr;
  }

  /// A live block's place.
  struct Place {
    SizeClass size_class;
    std::uint8_t* is_live;  // nullptr: it is none that a stack may hold
  };

  /// What the depot would be asked for, in bytes, if it had room for all.
  struct Demand {
    // Since the last look: what there was no room for and nobody asked for again; the most that the depot and
    // that were together; the most by which both together then fell; all that went past the depot.
    std::size_t refused, peak, asked, volume;
    std::size_t needed;  // that was asked for between the two looks before

    void note_refused(std::size_t bytes, std::size_t in_depot);
    void note_missed(std::size_t bytes, std::size_t in_depot);
    void look(std::size_t in_depot);
  };

  /// What a call may do: exchange its thread's stacks, and fence; or only what needs no call.
  enum class Path { kAny, kAtOnce };
  template <Path kPath>
  Place place_of(const Span* slab, void* block) const;
  template <Path kPath>
  static bool enter(Magazine& magazine) {
    return kPath == Path::kAtOnce ? magazine.lock.enter_at_once() : magazine.lock.enter();
  }
  template <Path kPath>
  void* take_of(SizeClass size_class);
  template <Path kPath>
  bool put_on(const Span* slab, void* block);

  // Without the mutex, inside of the magazine's lock.
  void use_other_or_load(StackPair& of, unsigned index);
  void use_empty_or_park(StackPair& of, unsigned index);
  void take_from_pot(Magazine& magazine, std::size_t bytes);
  void give_to_pot(Magazine& magazine);

  bool charge(std::size_t bytes, std::size_t* extra);
  bool pay(Magazine& magazine, std::size_t bytes);
  void give_up_credit(Magazine& magazine);
  void take_all_credit();
  void end_scarcity_if_over();
  void* take_without_stack(const BlockRequest& request, ReturnedPages& returned);
  bool load(Magazine& magazine, const BlockRequest& request, ReturnedPages& returned);
  bool make_room(StackPair& of, unsigned index, ReturnedPages& returned);
  void even_out(Magazine& magazine);
  void park(FreeStack* stack, unsigned index, ReturnedPages& returned);
  bool set_room_of_depot(unsigned index);
  void return_stack(FreeStack* stack, unsigned index, ReturnedPages& returned);
  void return_blocks(const FreeBlock* blocks, unsigned count, ReturnedPages& returned);
  bool return_next_of_depot(ReturnedPages& returned);
  void trim_depot(ReturnedPages& returned);
  void end_scarcity();
  void end_stacks();
  void rest_if_small();
  template <typename Use>
  void for_each_stack(Use use) const;
  void* pop(Magazine& magazine, StackPair& of);
  bool push(Magazine& magazine, StackPair& of, const FreeBlock& block);

  detail::HeapState& heap_;
  MagazineList<Magazine> list_;
  const detail::SpanTable spans_;
  Relaxed<std::size_t> most_credit_;  // of a thread; 0 while the heap is scarce
  /// Credit on its way from threads that free to those that allocate.
  alignas(kCacheLineBytes) std::atomic<std::size_t> pot_{0};

  // Under the mutex.
  alignas(kCacheLineBytes) bool is_scarce_ = false;
  std::size_t scarce_room_ = 0;  // with more than twice that below the next limit, scarcity ends
  std::size_t full_credit_ = 0;  // most_credit_ while not scarce
  bool keeps_no_credit_ = false;
  bool is_resting_ = false;
  unsigned next_to_trim_ = 1;
  Demand demand_{};

  StackDepot depot_;
};

/// \returns whether a heap may have magazines: it is not smaller than what a thread may have at hand, or its
/// threads wait for one another, or call it so fast that it shall be quick whatever that takes. \pre the
/// heap's mutex is held.
inline bool may_have_magazines(const detail::HeapState& heap) {
  return heap.may_have_magazines && (heap.account.charged() >= HeapMagazines::kMostCredit ||
                                     heap.shared_use.has_waited_much() || heap.call_rate.is_high());
}
/// Gives a heap its magazines, unless memory is refused, or ends their rest.
void make_magazines(detail::HeapState& heap);

/// Keeps all other threads from a heap.
class WholeHeapGuard {
 public:
  explicit WholeHeapGuard(detail::HeapState& heap);
  ~WholeHeapGuard();
  WholeHeapGuard(const WholeHeapGuard&) = delete;
  WholeHeapGuard& operator=(const WholeHeapGuard&) = delete;

 private:
  detail::HeapState& heap_;
  HeapMagazines* magazines_;
};

// Each field is read once: the compiler may not see that an atomic one has not changed.
// \pre the magazine is the caller's. \returns nullptr when the stack has no block, or the credit is too
// small.
TARN_INLINE void* HeapMagazines::pop(Magazine& magazine, StackPair& of) {
  const unsigned count = of.count();
  const std::size_t credit = magazine.credit, bytes = of.block_bytes();
  if (count == 0 || credit < bytes) [[unlikely]]
    return nullptr;
  const FreeBlock taken = of.used()->blocks[count - 1];
  of.set_count(count - 1);
  magazine.credit = credit - bytes;
  __atomic_store_n(taken.is_live, 1, __ATOMIC_RELEASE);
  return taken.block;
}

// Ends the block's life. \pre the magazine is the caller's. \returns false when the stack has no room, or the
// credit would be too large: then nothing has changed.
TARN_INLINE bool HeapMagazines::push(Magazine& magazine, StackPair& of, const FreeBlock& block) {
  const unsigned count = of.count();
  FreeStack* const used = of.used();
  const std::size_t credit = magazine.credit + of.block_bytes();
  if (used == nullptr || count >= of.room() || credit > most_credit_) [[unlikely]]
    return false;
  heap_.slabs.end_life(block.is_live, block.block);
  used->blocks[count] = block;
  of.set_count(count + 1);
  magazine.credit = credit;
  return true;
}

template <HeapMagazines::Path kPath>
TARN_INLINE void* HeapMagazines::take_of(SizeClass size_class) {
  Magazine* const magazine = list_.of_this_thread_at_hand();
  if (magazine == nullptr || !enter<kPath>(*magazine)) return nullptr;
  StackPair& of = magazine->of_class(size_class);
  if (kPath == Path::kAny) {
    if (of.count() == 0) use_other_or_load(of, index_of_class(size_class));
    if (of.count() != 0 && magazine->credit < of.block_bytes()) take_from_pot(*magazine, of.block_bytes());
  }
  void* const block = pop(*magazine, of);
  magazine->lock.leave();
  return block;
}

// A slab without lives has no block for a stack. Of a marked one, frees take the slow door.
template <HeapMagazines::Path kPath>
TARN_INLINE HeapMagazines::Place HeapMagazines::place_of(const Span* slab, void* block) const {
  if (slab == nullptr) return {};
  if ((kPath == Path::kAtOnce ? slab->marked_pool() : slab->unmarked_pool()) != &heap_) return {};
  std::uint8_t* const lives = slab->live_bytes();
  const auto offset = static_cast<std::uint32_t>(static_cast<char*>(block) - slab->start);
  const std::uint32_t index = number_of(index_of_offset(offset, slab->reciprocal));
  if (lives == nullptr || index >= slab->block_count || index * slab->stride != offset) return {};
  return {slab->size_class.load(std::memory_order_relaxed), lives + index};
}

template <HeapMagazines::Path kPath>
TARN_INLINE bool HeapMagazines::put_on(const Span* slab, void* block) {
  Magazine* const magazine = list_.of_this_thread_at_hand();
  if (magazine == nullptr) return false;
  const Place place = place_of<kPath>(slab, block);
  if (place.is_live == nullptr || !enter<kPath>(*magazine)) return false;
  StackPair& of = magazine->of_class(place.size_class);
  if (kPath == Path::kAny) {
    if (of.count() == of.room()) use_empty_or_park(of, index_of_class(place.size_class));
    if (magazine->credit + of.block_bytes() > most_credit_) give_to_pot(*magazine);
  }
  const bool is_put = push(*magazine, of, {block, place.is_live});
  magazine->lock.leave();
  return is_put;
}

TARN_INLINE void* HeapMagazines::take_at_once(std::size_t size) {
  if (!StackClasses::serves(size)) return nullptr;
  return take_of<Path::kAtOnce>(HeapSlabs::class_for(size));
}

TARN_INLINE bool HeapMagazines::put_at_once(void* block) {
  return put_on<Path::kAtOnce>(static_cast<const Span*>(spans_.find(block)), block);
}

}  // namespace tarn::internal
