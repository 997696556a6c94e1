// Guarded blocks: a sample of the general pool's blocks (thread/observation/guard_turns.h says which), so
// that a program that runs for months stops at a write past a block, or a use of a freed one, and says where
// the block came from. Source of the idea: electric fence; sampled: GWP-ASan, of LLVM.
//
// Each lies in a slot of its own: OS pages of which only those of its block may be touched, and behind them
// one that never may. The block ends where that page begins, but for what its alignment to 16 bytes leaves.
// Once it is freed none of the slot's pages may be touched, and the slot waits until all others have been
// used since. The bytes about a block, in its pages, are known, and looked at when it is freed.
//
// A slot keeps who made its block and who freed it, with both stacks. Slots are no pages of the heap: what
// hits look up never leads here, and all calls with a guarded block are slow.
//
// Most have a block of few bytes in an OS page. So they are few: the pages of live ones are at most 1/128 of
// the heap, or 16 pages; and a place of the program has an eighth of the slots at most, else its blocks that
// live for long would soon have all. No limit of memory counts them.
//
// Invariant: a slot's fields belong to who changed its state last: to kTaken under the lock, from there to
// kLive, and from kLive to kFreed by whom the program lets free the block.
// Threads: any, with no lock held; reports also inside of a handler of signals.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"
#include "base/units.h"
#include "os/locks/lock_rank.h"
#include "os/locks/mutex.h"

namespace tarn::internal {

class Text;

/// Who called, and from where.
struct GuardedCall {
  static constexpr unsigned kMostAddresses = 20;

  std::uint32_t thread, count;
  void* addresses[kMostAddresses];  // where calls return to, the innermost first

  void take();
  /// 0: where the program filters its calls of the system it is not asked.
  static std::uint32_t this_thread();
};

enum class SlotState : std::uint32_t {
  kNew,      // had no block yet
  kTaken,    // is being made ready
  kLive,     // has a block
  kFreed,    // the block is being freed
  kWaiting,  // may be taken again
};

struct GuardedSlot {
  std::atomic<SlotState> state;
  std::uint32_t bytes;              // of its block
  std::uint64_t site;               // hash of the stack that made it
  Relaxed<std::uint64_t> freed_as;  // the frees before its own
  GuardedCall made, freed;
};

class GuardedBlocks {
 public:
  static constexpr std::uint32_t kMostSlots = 1024;
  static constexpr std::size_t kLargest = 32 * 1024;  // bytes of a block

  bool owns(const void* pointer) const {
    return address_of(pointer) - start_.load(std::memory_order_relaxed) <
           bytes_.load(std::memory_order_acquire);
  }

  /// \param at_any_price all slots may be used, by whatever place. \returns nullptr where no slot is free, or
  /// the system refuses.
  void* allocate(std::size_t size, bool at_any_price);

  // \pre owns(): all stop the process, or say what is wrong, where no live block begins there.
  void deallocate(void* block);
  /// \returns what was asked for.
  std::size_t usable_bytes(const void* block);

  /// Looks at what lies about live blocks, which may never be freed.
  void check_at_exit() const;

  /// Whether a live block begins there. \pre owns()
  bool is_block(const void* pointer) const;
  /// Of the last block that the slot of an address had.
  std::size_t bytes_of_block(const void* pointer) const;
  /// What a fault at an address was. \pre owns()
  void describe_fault(std::uintptr_t address, bool is_write, Text& line) const;
  void write_stacks_of(const void* pointer) const;

  std::uint32_t live() const { return live_.load(std::memory_order_relaxed); }

 private:
  friend class ObservedLayout;

  static constexpr std::size_t kAlignment = 16;
  static constexpr std::size_t kPadBytes = 64;  // that are looked at before a block, at most
  static constexpr unsigned char kPad = 0xb9;

  /// The bytes about a block that are looked at.
  struct Pads {
    char* before;
    std::size_t before_bytes;
    char* behind;
    std::size_t behind_bytes;
  };

  bool begin_locked();
  GuardedSlot* take_slot_locked(std::size_t size, std::uint64_t site, bool at_any_price);
  GuardedSlot* take_slot(std::size_t size, std::uint64_t site, bool at_any_price);
  GuardedSlot& slot_of(const void* pointer) const;
  char* end_of(const GuardedSlot& slot) const;
  char* block_of(const GuardedSlot& slot) const;
  Pads pads_of(const GuardedSlot& slot) const;
  static const char* misuse_of(const Pads& pads);
  void* hand_out(GuardedSlot& slot, std::size_t size, std::uint64_t site, const GuardedCall& call);
  void close(GuardedSlot& slot);

  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kGuarded>();
  std::atomic<std::uintptr_t> start_{0};
  std::atomic<std::size_t> bytes_{0};  // 0 before the first block
  GuardedSlot* slots_ = nullptr;
  std::size_t slot_bytes_ = 0;
  std::uint32_t used_ = 0;  // slots that are not kNew
  std::atomic<std::uint32_t> live_{0};
  std::atomic<std::uint64_t> made_{0}, frees_{0};
};

extern GuardedBlocks guarded_blocks;

/// Lets the process tell of faults in slots (guard_faults.cc), also where the program has set another action.
void watch_faults();

}  // namespace tarn::internal
