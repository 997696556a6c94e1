// Stacks of free blocks of a heap: the two that a thread has of each class, and the depot where threads
// exchange them.
//
// A thread exchanges stacks inside of its magazine's lock, with a lock of the class that it holds for some
// stores and only tries: so threads that allocate what others free do not wait for the heap's mutex.
//
// Invariant: a stack is a thread's, or whole or empty in the depot, or on its way between these.
// Fork: a stack leaves its place before it comes to another, so that a fork's child, which has each thread's
// stores up to some moment, never finds one twice; it may lose some.
// Threads: a pair is its thread's inside of its magazine's lock, or under the heap's mutex. Of the depot,
// load, park and settle_empty also need no more; all else needs the heap's mutex, or that all are visited.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "base/units.h"
#include "central/size_class.h"
#include "os/brief_lock.h"

namespace tarn::internal {

/// A free block for a magazine, with its byte among the slab's live_bytes().
struct FreeBlock {
  void* block;
  std::uint8_t* is_live;
};

struct FreeStack {
  static constexpr unsigned kRoom = 31;

  FreeBlock blocks[kRoom];
  FreeStack* next;  // of the depot
};
static_assert(sizeof(FreeStack) <= 8 * kCacheLineBytes);

/// \returns the number of classes, from the first, that hold at most so many bytes.
constexpr unsigned classes_up_to(std::size_t block_bytes) {
  unsigned index = 1;
  while (index < detail::kFirstAlignedBin && bin_limit(detail::Bin{index}) <= block_bytes) ++index;
  return index;
}

/// The classes that have stacks, by index from 1 on, and the blocks of a whole stack of each.
class StackClasses {
 public:
  static constexpr std::size_t kLargestBlock = kOwnSlabBlockBytes;
  static constexpr unsigned kCount = classes_up_to(kLargestBlock);

  /// Tiny blocks have none, nor have those that are aligned beyond 16 bytes.
  static bool has(SizeClass size_class) { return index_of_class(size_class) - 1 < kCount - 1; }
  /// Whether blocks of a size, of usual alignment, have stacks.
  static constexpr bool serves(std::size_t size) {
    return size - (detail::kTinyLimit + 1) <= kLargestBlock - (detail::kTinyLimit + 1);
  }
  /// \why of the presets' sizes, a constant: a file's class of the same number has nearly the same size.
  static unsigned room(unsigned index) { return kRooms.of[index]; }
  static std::size_t block_bytes(unsigned index) { return class_geometry[class_of_index(index)].block_bytes; }
  static std::size_t stack_bytes(unsigned index) { return room(index) * block_bytes(index); }

 private:
  static constexpr std::size_t kStackBytes = 16 * 1024;
  static constexpr unsigned kLeastRoom = 4;

  struct Rooms {
    std::uint8_t of[kCount];
  };
  static constexpr Rooms make_rooms() {
    Rooms rooms{};
    for (unsigned index = 1; index < kCount; ++index) {
      const std::size_t room = kStackBytes / kGeometry.of[index].block_bytes;
      rooms.of[index] = room > FreeStack::kRoom ? FreeStack::kRoom
                        : room < kLeastRoom     ? kLeastRoom
                                                : static_cast<std::uint8_t>(room);
    }
    return rooms;
  }
  static const Rooms kRooms;
};
inline constexpr StackClasses::Rooms StackClasses::kRooms = make_rooms();

/// Whatever the table of classes, the class of a size that may have stacks has some. A file's table has such
/// classes too: one is of 32 KiB (central/block_sizes.h).
constexpr bool classes_with_stacks_serve_all_sizes() {
  for (const detail::ClassOfBin& classes : kPresetClasses.of)
    for (unsigned bin = 1; bin < detail::kTinyBin; ++bin)
      if (StackClasses::serves(bin_limit(detail::Bin{bin})) &&
          index_of_class(classes[detail::Bin{bin}]) - 1 >= StackClasses::kCount - 1)
        return false;
  return true;
}
static_assert(classes_with_stacks_serve_all_sizes());

/// A slab of one block needs no stack, and has none. Sizes between these have the pages of the next larger.
constexpr bool slabs_with_stacks_have_several_blocks() {
  for (unsigned index = 1; index < StackClasses::kCount; ++index) {
    const ClassGeometry& geometry = kGeometry.of[index];
    if (bytes_of(geometry.first_slab_pages) < 2 * std::size_t{geometry.stride}) return false;
  }
  return true;
}
static_assert(slabs_with_stacks_have_several_blocks());

/// The stacks that a thread has of a class: one in use, the other whole or empty; or none.
class StackPair {
 public:
  /// Once, before all other calls.
  void begin(unsigned index) {
    block_bytes_ = static_cast<std::uint32_t>(StackClasses::block_bytes(index));
    room_ = static_cast<std::uint8_t>(StackClasses::room(index));
  }

  std::size_t block_bytes() const { return block_bytes_; }
  unsigned room() const { return room_; }                                    // of a stack, in blocks
  unsigned count() const { return count_.load(std::memory_order_relaxed); }  // in the used stack
  bool is_other_whole() const { return is_other_whole_.load(std::memory_order_relaxed); }
  TARN_INLINE FreeStack* used() const { return used_.load(std::memory_order_relaxed); }
  FreeStack* other() const { return other_.load(std::memory_order_relaxed); }

  void set_count(unsigned count) { store(count_, static_cast<std::uint8_t>(count)); }
  /// \pre the used stack is empty, or there is none; the other is whole.
  void use_whole() {
    FreeStack *const empty = used(), *const whole = drop_other();
    set_used(whole);
    set_other(empty);
    set_count(room_);
  }
  /// \pre the used stack is whole; there is another, and it is empty.
  void use_empty() {
    FreeStack *const whole = used(), *const empty = other();
    set_count(0);
    set_other(nullptr);
    set_used(empty);
    set_other(whole);
    store(is_other_whole_, true);
  }
  void set_used(FreeStack* stack) { store(used_, stack); }
  void set_other(FreeStack* stack) { store(other_, stack); }
  /// \returns the used stack, no longer the pair's. \pre it is empty.
  FreeStack* drop_used() {
    FreeStack* const stack = used();
    set_used(nullptr);
    return stack;
  }
  /// \returns the other stack, no longer the pair's.
  FreeStack* drop_other() {
    FreeStack* const stack = other();
    store(is_other_whole_, false);
    set_other(nullptr);
    return stack;
  }
  void forget() {
    set_count(0);
    store(is_other_whole_, false);
  }

 private:
  template <typename T>
  static void store(std::atomic<T>& field, T value) {
    field.store(value, std::memory_order_release);
  }

  std::atomic<FreeStack*> used_{nullptr}, other_{nullptr};
  std::uint32_t block_bytes_ = 0;  // constant, beside what changes, for one cache line in a hit
  std::uint8_t room_ = 0;          // the same
  std::atomic<std::uint8_t> count_{0};
  std::atomic<bool> is_other_whole_{false};
};

class StackDepot {
 public:
  // By the thread of a pair, inside of its magazine's lock.

  /// Takes a whole stack of a class for use, and leaves the empty one. \returns false when there is none, or
  /// another thread exchanges one. \pre the used stack is empty, or there is none; the other is not whole.
  bool load(StackPair& pair, unsigned index);
  /// Leaves the other stack if it is whole, and takes an empty one for use. \returns false when there is no
  /// room, or no empty one, or another thread exchanges one. \pre the used stack is whole.
  bool park(StackPair& pair, unsigned index);

  // Under the heap's mutex.

  /// From now on there is room for so many bytes of whole stacks; those that are there stay.
  void set_room(std::size_t bytes) { room_ = bytes; }
  /// Whether whole stacks of a class may come. \returns whether there are some that no longer may.
  bool admit(unsigned index, bool is_admitted) {
    of_[index].is_refused = !is_admitted;
    return !is_admitted && of_[index].count != 0;
  }
  /// \returns a whole stack; nullptr when there is none.
  FreeStack* take_whole(unsigned index);
  /// The same of the first class that has one from `*index` on, in turn.
  FreeStack* take_any(unsigned* index);
  /// \returns an empty stack; nullptr when memory is refused.
  FreeStack* take_empty(unsigned index);
  void give_empty(FreeStack* stack, unsigned index);
  void give_whole(FreeStack* stack, unsigned index);

  /// The bytes of the blocks in whole stacks.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool is_full() const { return bytes() > room_; }
  bool admits(unsigned index) const { return !of_[index].is_refused; }
  bool has_room(unsigned index) const {
    return admits(index) && bytes() + StackClasses::stack_bytes(index) <= room_;
  }
  /// The blocks in them.
  std::size_t count() const;
  /// Whether a fork has come that heed_fork() does not know of.
  bool may_count_wrong() const { return process_number_ != os::BriefLock::this_process(); }

  // While all are visited.

  /// Counts anew in the child of a fork, where a thread may have been in the midst of an exchange.
  void heed_fork();
  /// Calls use(stack, index) for each whole stack.
  template <typename Use>
  void for_each_whole(Use use) const {
    for (unsigned index = 1; index < StackClasses::kCount; ++index)
      for (const FreeStack* stack = of_[index].whole; stack != nullptr; stack = stack->next)
        use(*stack, index);
  }
  /// Forgets the blocks of all whole stacks, which are empty then.
  void forget();
  /// Gives back the memory of the empty stacks.
  void end_empty();
  /// Stops the process when the invariant is broken.
  void validate() const;

 private:
  struct OfClass {
    os::BriefLock lock;
    Relaxed<std::uint32_t> count;  // of whole ones
    Relaxed<bool> is_refused;
    std::atomic<FreeStack*> whole{nullptr}, empty{nullptr};
  };

  static void push(std::atomic<FreeStack*>& first, FreeStack* stack);
  static FreeStack* pop(std::atomic<FreeStack*>& first);
  void count_in(OfClass& of, unsigned index);
  void count_out(OfClass& of, unsigned index);

  alignas(kCacheLineBytes) std::atomic<std::size_t> bytes_{0};
  Relaxed<std::size_t> room_;
  std::uint32_t process_number_ = os::BriefLock::this_process();
  alignas(kCacheLineBytes) OfClass of_[StackClasses::kCount];
};

}  // namespace tarn::internal
