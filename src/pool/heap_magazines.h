// Free blocks of a heap at hand for each thread, and bytes that each may allocate without asking.
//
// A heap begins without magazines. Once threads use it much, each has two stacks of free blocks for each
// class of up to 4 KiB, one in use and one whole or empty (J. Bonwick, J. Adams, "Magazines and Vmem", 2001),
// and a credit: bytes that the heap is charged and that no live block has. A hit takes a block from a stack
// and its bytes from the credit, or gives them back. A miss exchanges a stack with the depot, and evens out
// the credit, under the heap's mutex.
//
// Limits hold for what is charged, live bytes and credits: so a hard limit is never exceeded. Before a limit
// would refuse a block or be crossed, all credits of the heap's threads are collected; when little is left
// below it then, the heap is scarce: its threads have no credit, and each call counts, until more is left. So
// a soft limit is crossed when live bytes cross it; it can be crossed again once what is charged has been
// below it. Each thread's credit is at most kMostCredit and a part of the lowest limit (kLimitPerCredit),
// which also is the error of the peak.
//
// A block in a magazine has the bit 0, as a live one. So each block has a byte that says whether it lives
// (HeapSlabs::keep_lives); the free exchanges it, and finds a double free, also of two threads at once as
// long as the slab lives.
//
// Invariant: charged bytes == live bytes + credits + those of heaps within; taken_count == live blocks +
// blocks in stacks.
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

namespace tarn::internal {

/// \returns the number of classes, from the first, that hold at most so many bytes.
constexpr unsigned classes_up_to(std::size_t block_bytes) {
  unsigned index = 1;
  while (index < detail::kFirstAlignedBin && bin_limit(detail::Bin{index}) <= block_bytes) ++index;
  return index;
}

class alignas(kCacheLineBytes) HeapMagazines {
 public:
  static constexpr std::size_t kLargestBlock = 4096;
  static constexpr std::size_t kMostCredit = 64 * 1024;
  static constexpr std::size_t kLimitPerCredit = 16;  // a credit is at most this part of the lowest limit

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
  // The same, where a stack need not be exchanged: they make no call.
  void* take_at_once(std::size_t size, std::size_t alignment);
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

  /// \returns the sum of all credits, exact while all magazines are visited, else of no single moment.
  std::size_t credits() const;
  struct Counts {
    std::size_t bytes, count;
  };
  /// \returns the blocks in all stacks, in the same way.
  Counts cached() const;

  /// Stops the process when the invariant is broken. \pre no other thread uses the heap.
  void validate() const;

  void visit_all() { list_.visit_all(); }
  void leave_all() { list_.leave_all(); }
  /// Moves all credits to the heap.
  void collect();
  /// The same, returns all blocks to their slabs, and gives back the memory of the stacks. \pre all are
  /// visited.
  void empty(ReturnedPages& returned);
  /// The same, but forgets the blocks, which have ended. \pre all are visited.
  void forget();

 private:
  struct Stack {
    static constexpr unsigned kRoom = 31;

    FreeBlock blocks[kRoom];
    Stack* next;  // of the depot, or of the empty ones
  };
  static_assert(sizeof(Stack) <= 8 * kCacheLineBytes);

  static constexpr unsigned kClasses = classes_up_to(kLargestBlock);

  /// The stacks that a thread has of a class: one in use, the other whole or empty. Its thread stores in
  /// such an order that a fork's child finds no block in both, and none that lives, wherever the fork cuts;
  /// blocks may be lost to the child.
  class OfClass {
   public:
    unsigned count() const { return count_.load(std::memory_order_relaxed); }  // in the used stack
    bool is_other_whole() const { return is_other_whole_.load(std::memory_order_relaxed); }
    Stack* used() const { return stacks_[used_.load(std::memory_order_relaxed)]; }
    Stack* other() const { return stacks_[used_.load(std::memory_order_relaxed) ^ 1]; }

    void set_count(unsigned count) { store(count_, static_cast<std::uint8_t>(count)); }
    /// \pre the used stack is empty, the other whole.
    void use_whole(unsigned room) {
      store(is_other_whole_, false);
      exchange();
      set_count(room);
    }
    /// \pre the used stack is whole; there is another, and it is empty.
    void use_empty() {
      set_count(0);
      exchange();
      store(is_other_whole_, true);
    }

    // Under the heap's mutex, with which forks wait.
    void set_used(Stack* stack) { stacks_[used_.load(std::memory_order_relaxed)] = stack; }
    void set_other(Stack* stack) { stacks_[used_.load(std::memory_order_relaxed) ^ 1] = stack; }
    void forget() {
      set_count(0);
      store(is_other_whole_, false);
    }
    void use_other_no_more() {
      store(is_other_whole_, false);
      set_other(nullptr);
    }

   private:
    template <typename T>
    static void store(std::atomic<T>& field, T value) {
      field.store(value, std::memory_order_release);
    }
    void exchange() { store(used_, static_cast<std::uint8_t>(used_.load(std::memory_order_relaxed) ^ 1)); }

    Stack* stacks_[2] = {};
    std::atomic<std::uint8_t> count_{0}, used_{0};
    std::atomic<bool> is_other_whole_{false};
  };
  struct alignas(kCacheLineBytes) Magazine : ListedMagazine<Magazine> {
    Relaxed<std::size_t> credit;
    OfClass of[kClasses];
  };

  explicit HeapMagazines(detail::HeapState& heap, std::uint32_t slot)
      : heap_(heap), list_(slot, heap.number) {}

  static bool has_stacks(SizeClass size_class) { return index_of_class(size_class) - 1 < kClasses - 1; }
  static bool has_stacks(const BlockRequest& request) { return has_stacks(request.size_class); }
  /// Blocks of a whole stack.
  static constexpr unsigned room_of(std::size_t block_bytes) {
    const std::size_t room = kStackBytes / block_bytes;
    return room < Stack::kRoom ? static_cast<unsigned>(room) : Stack::kRoom;
  }
  static constexpr std::size_t kStackBytes = 16 * 1024;
  struct Rooms {
    std::uint8_t of[kClasses];
  };
  static constexpr Rooms make_rooms() {
    Rooms rooms{};
    for (unsigned index = 1; index < kClasses; ++index)
      rooms.of[index] = static_cast<std::uint8_t>(room_of(kGeometry.of[index].block_bytes));
    return rooms;
  }
  static const Rooms kRooms;

  /// A live block's place.
  struct Place {
    SizeClass size_class;
    std::uint8_t* is_live;  // nullptr: it is none that a stack may hold
  };
  Place place_of(void* block) const;

  /// What a call may do: exchange its thread's stacks, and fence; or only what needs no call.
  enum class Path { kAny, kAtOnce };
  template <Path kPath>
  static bool enter(Magazine& magazine) {
    return kPath == Path::kAtOnce ? magazine.lock.enter_at_once() : magazine.lock.enter();
  }
  template <Path kPath>
  void* take_of(SizeClass size_class);
  template <Path kPath>
  bool put_on(void* block);

  bool charge(std::size_t bytes, std::size_t* extra);
  bool pay(Magazine& magazine, std::size_t bytes);
  void give_up_credit(Magazine& magazine);
  void end_scarcity_if_over();
  void* take_without_stack(const BlockRequest& request, ReturnedPages& returned);
  bool load(Magazine& magazine, const BlockRequest& request, ReturnedPages& returned);
  bool make_room(OfClass& of, unsigned index, unsigned room, ReturnedPages& returned);
  void even_out(Magazine& magazine);
  Stack* take_empty();
  void give_empty(Stack* stack);
  void park(Stack* stack, unsigned index, unsigned count, ReturnedPages& returned);
  void return_blocks(const FreeBlock* blocks, unsigned count, ReturnedPages& returned);
  void trim_depot(std::size_t most_bytes, ReturnedPages& returned);
  void end_scarcity();
  void end_stacks();
  template <typename Use>
  void for_each_stack(Use use) const;
  void* pop(Magazine& magazine, OfClass& of, std::size_t bytes);
  void push(Magazine& magazine, OfClass& of, std::size_t bytes, const FreeBlock& block);

  detail::HeapState& heap_;
  MagazineList<Magazine> list_;
  Relaxed<std::size_t> most_credit_;  // of a thread; 0 while the heap is scarce

  // Under the mutex.
  alignas(kCacheLineBytes) bool is_scarce_ = false;
  std::size_t scarce_room_ = 0;  // with more than twice that below the next limit, scarcity ends
  std::size_t full_credit_ = 0;  // most_credit_ while not scarce
  bool keeps_no_credit_ = false;
  std::size_t depot_bytes_ = 0;
  unsigned next_to_trim_ = 1;
  Stack* empty_ = nullptr;
  Stack* depot_[kClasses] = {};  // whole stacks
};

/// \returns whether a heap may have magazines: it is not smaller than what a thread may have at hand.
/// \pre the heap's mutex is held.
inline bool may_have_magazines(const detail::HeapState& heap) {
  return heap.may_have_magazines && heap.account.charged() >= HeapMagazines::kMostCredit;
}
/// Gives a heap its magazines, unless it has them or memory is refused.
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

// \pre the magazine is the caller's; the stack has blocks, and the credit is enough.
TARN_INLINE void* HeapMagazines::pop(Magazine& magazine, OfClass& of, std::size_t bytes) {
  const unsigned rest = of.count() - 1;
  of.set_count(rest);
  magazine.credit -= bytes;
  const FreeBlock& taken = of.used()->blocks[rest];
  __atomic_store_n(taken.is_live, 1, __ATOMIC_RELEASE);
  return taken.block;
}

// \pre the magazine is the caller's; the stack has room.
TARN_INLINE void HeapMagazines::push(Magazine& magazine, OfClass& of, std::size_t bytes,
                                     const FreeBlock& block) {
  const unsigned count = of.count();
  of.used()->blocks[count] = block;
  of.set_count(count + 1);
  magazine.credit += bytes;
}

inline constexpr HeapMagazines::Rooms HeapMagazines::kRooms = make_rooms();

template <HeapMagazines::Path kPath>
TARN_INLINE void* HeapMagazines::take_of(SizeClass size_class) {
  Magazine* const magazine = list_.of_this_thread();
  if (magazine == nullptr || !has_stacks(size_class) || !enter<kPath>(*magazine)) return nullptr;
  const unsigned index = index_of_class(size_class);
  OfClass& of = magazine->of[index];
  if (kPath == Path::kAny && of.count() == 0 && of.is_other_whole()) of.use_whole(kRooms.of[index]);
  const std::size_t block_bytes = kGeometry[size_class].block_bytes;
  void* block = nullptr;
  if (of.count() != 0 && magazine->credit >= block_bytes) [[likely]]
    block = pop(*magazine, of, block_bytes);
  magazine->lock.leave();
  return block;
}

TARN_INLINE HeapMagazines::Place HeapMagazines::place_of(void* block) const {
  const Span* const slab = page_map.find(block);
  if (slab == nullptr || slab->marked_pool() != &heap_) return {};
  const SizeClass size_class = slab->size_class.load(std::memory_order_relaxed);
  std::uint8_t* const lives = slab->live_bytes();
  if (!has_stacks(size_class) || lives == nullptr) return {};
  const auto offset = static_cast<std::uint32_t>(static_cast<char*>(block) - slab->start);
  const BlockIndex index = index_of(kGeometry[size_class], offset);
  if (number_of(index) >= slab->block_count || slab->block(index) != block) return {};
  return {size_class, lives + number_of(index)};
}

template <HeapMagazines::Path kPath>
TARN_INLINE bool HeapMagazines::put_on(void* block) {
  Magazine* const magazine = list_.of_this_thread();
  if (magazine == nullptr) return false;
  const Place place = place_of(block);
  if (place.is_live == nullptr || !enter<kPath>(*magazine)) return false;
  const unsigned index = index_of_class(place.size_class), room = kRooms.of[index];
  OfClass& of = magazine->of[index];
  if (kPath == Path::kAny && of.count() == room && of.other() != nullptr && !of.is_other_whole())
    of.use_empty();
  const std::size_t block_bytes = kGeometry[place.size_class].block_bytes;
  const bool is_put =
      of.used() != nullptr && of.count() < room && magazine->credit + block_bytes <= most_credit_;
  if (is_put) [[likely]] {
    heap_.slabs.end_life(place.is_live, block);
    push(*magazine, of, block_bytes, {block, place.is_live});
  }
  magazine->lock.leave();
  return is_put;
}

TARN_INLINE void* HeapMagazines::take_at_once(std::size_t size, std::size_t alignment) {
  if (size > kLargestBlock || !HeapSlabs::is_for_any_slab(alignment)) return nullptr;
  return take_of<Path::kAtOnce>(HeapSlabs::class_for(size, alignment));
}

TARN_INLINE bool HeapMagazines::put_at_once(void* block) { return put_on<Path::kAtOnce>(block); }

}  // namespace tarn::internal
