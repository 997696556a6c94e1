// The sampled blocks that live, with the stacks that made them, and what was sampled since the switch.
//
// A sample is an entry of a table, by the address of its block. Its stack is stored once, however many
// samples have it. Both lie in memory of their own: a profile adds nothing to the pages of the program. Tools
// read both from outside (observe/descriptor.cc names the fields).
//
// Invariant: the table is at most three quarters full; an entry without a block is free; what is found by a
// block's hash lies before the first free entry behind it.
// Threads: any; one mutex for each part of the table, and one for new stacks.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/locks/lock_rank.h"
#include "os/stack/stack_memo.h"
#include "thread/observation/observation.h"

namespace tarn::internal {

struct CodeModule;

struct Sample {
  std::uint64_t block;      // 0: the entry is free
  std::uint64_t requested;  // bytes
  std::uint32_t stack;      // its number
  SampleLasts lasts : 8;
  std::uint32_t serial : 24;  // of the part that has it: tells it from another of the same block later
  std::uint64_t interval;     // bytes
  std::uint64_t pool;         // its number; 0: the general pool
  std::uint64_t made_ns;      // when, by os::clock_ns(); 0 where every block is sampled
};

/// A stack that blocks of one pool came from, and what its samples since it was first seen stand for: a
/// sample of a block of s bytes, drawn each i bytes, for 1 / (1 - e^(-s / i)) blocks. \why parts: rounded to
/// whole blocks, samples that stand for 1.4 blocks each would tell of 30 % too few.
struct SampledStack {
  static constexpr std::uint32_t kPartsOfBlock = 1 << 16;
  static constexpr std::uint32_t kPartsOfByte = 1 << 8;
  /// A block that lives no longer is a temporary one. Not told where every block is sampled. \why reading the
  /// clock twice would be a fifth of that's cost
  static constexpr std::uint64_t kTemporaryNs = 1'000'000, kSecondNs = 1'000'000'000;

  std::uint32_t count;                   // of addresses
  std::atomic<std::uint32_t> is_hidden;  // a file that an address lies in has gone: no new sample finds it
  std::uint64_t hash;
  std::uint64_t pool;  // that its samples are blocks of, as in Sample
  std::atomic<std::uint64_t> samples, block_parts, byte_parts;
  std::atomic<std::uint64_t> temporary_samples, temporary_block_parts, temporary_byte_parts;
  std::atomic<std::uint64_t> second_byte_parts;  // of blocks that lived a second at most
  std::uint64_t addresses[1];                    // `count` of them; room for one at least
};

class Samples {
 public:
  static constexpr unsigned kParts = 16;

  void add(const Sampled& sampled);
  /// \returns whether there was a sample of the block.
  bool remove(void* block);
  void move(void* from, void* to);
  /// Ends samples that last no longer than the switch.
  void end_of_switch();

  /// \returns whether there is a sample of the block; then `copy` is one of it.
  bool find(std::uint64_t block, Sample& copy);
  /// Calls visit(sample) for each live one, a part at a time under its lock.
  template <typename Visit>
  void for_each(Visit visit) {
    for (Part& part : parts_) {
      os::LockGuard guard(part.mutex);
      for (std::size_t i = 0; i < part.room; ++i)
        if (part.entries[i].block != 0) visit(part.entries[i]);
    }
  }
  /// The same, with no lock held during a visit. A sample that comes or goes meanwhile is visited once or not
  /// at all, or twice where another's end has moved it.
  template <typename Visit>
  void visit_copies(Visit visit_copy) {
    constexpr std::size_t kCopied = 32;
    for (Part& part : parts_) {
      Sample copies[kCopied];
      std::size_t next = 0, copied = 0;
      do {
        copied = copy_from(part, &next, copies, kCopied);
        for (std::size_t i = 0; i < copied; ++i) visit_copy(copies[i]);
      } while (copied == kCopied);
    }
  }
  /// Calls visit(stack) for each stack there ever was. \threads any; new ones may be missed.
  template <typename Visit>
  void for_each_stack(Visit visit) const {
    const StackTable* const table = table_.load(std::memory_order_acquire);
    for (std::size_t i = 0; table != nullptr && i < table->room; ++i)
      if (const std::uint32_t number = table->number_at(i); number != 0) visit(*stack(number));
  }
  const SampledStack* stack(std::uint32_t number) const;
  /// Call when code was unloaded: what its stacks' addresses were is kept, and is not what they are next.
  void note_unloaded_code();
  /// Calls visit(start, end) for the memory that names sampled blocks, a part at a time under its lock, and
  /// for that of stacks: their hashes may look like addresses.
  template <typename Visit>
  void visit_memory(Visit visit) {
    for (Part& part : parts_) {
      os::LockGuard guard(part.mutex);
      if (part.room != 0) visit(address_of(part.entries), address_of(part.entries + part.room));
    }
    const std::uint32_t pieces = piece_count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < pieces; ++i)
      visit(address_of(pieces_[i]), address_of(pieces_[i]) + kStackPieceBytes);
    for (const StackTable* table = table_.load(std::memory_order_acquire); table != nullptr;
         table = table->smaller)
      visit(address_of(table), address_of(table) + StackTable::bytes_for(table->room));
  }
  /// Samples that were lost because memory was refused.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

  void visit_for_fork(os::ForkSet::Visit visit) {
    for (Part& part : parts_) visit(part.mutex);
  }
  /// Stops the process where the invariant is broken.
  void validate();

 private:
  friend class ObservedLayout;

  struct alignas(kCacheLineBytes) Part {
    os::MemberMutex<os::LockRank::kSamples> mutex{};
    Sample* entries = nullptr;
    std::size_t room = 0;  // a power of two, or 0
    std::size_t count = 0;
    std::uint32_t last_serial = 0;
  };
  static constexpr std::size_t kFirstRoom = 512;
  static constexpr std::size_t kStackPieceBytes = std::size_t{1} << 20;
  static constexpr std::uint32_t kMostPieces = 1024;
  static constexpr std::uint32_t kStackUnit = 8;  // a stack's number counts so many bytes

  /// Numbers of stacks by their hashes, open addressing, at most half full. Threads search it without a lock;
  /// one that grows leaves the smaller table as it was: who still searches that misses new stacks, and looks
  /// again under the lock.
  struct StackTable {
    static constexpr std::size_t kFirstRoom = 1 << 13;

    std::size_t room;                      // a power of two
    const StackTable* smaller;             // that it stands for now; nullptr: none
    std::atomic<std::uint64_t> places[1];  // `room` of them: upper half of a hash, number; 0: free

    static std::size_t bytes_for(std::size_t room);
    std::uint32_t number_at(std::size_t i) const {
      return static_cast<std::uint32_t>(places[i].load(std::memory_order_acquire));
    }
    void add(std::uint64_t hash, std::uint32_t number);
  };

  Part& part_of(std::uint64_t block);
  // From an entry on, which moves behind the last one copied. \returns how many.
  static std::size_t copy_from(Part& part, std::size_t* entry, Sample* copies, std::size_t most);
  static std::size_t place_of(const Part& part, std::uint64_t block);
  /// Memory of a table that has grown, which goes back once no lock is held.
  struct OldEntries {
    Sample* start = nullptr;
    std::size_t room = 0;
    ~OldEntries();
  };
  void put(const Sample& sample);
  static bool put_locked(Part& part, const Sample& sample, OldEntries& old);
  static bool grow_locked(Part& part, OldEntries& old);
  static Sample take_locked(Part& part, std::uint64_t block);
  void note_allocated(std::uint32_t number, const Sampled& sampled);
  void note_ended(const Sample& sample);
  char* memo_of_this_thread(std::size_t bytes_each);
  struct Found {
    void* const* addresses;
    std::uint32_t count;
    std::uint64_t pool, hash;
  };
  std::uint32_t intern(const Found& found);
  bool is_stack(std::uint32_t number, const Found& found) const;
  std::uint32_t find_stack(const Found& found) const;
  bool make_room_in_table_locked();
  void note_modules_locked(const Found& found);
  static void update_stacks_of_locked(const CodeModule& module);
  char* take_stack_memory_locked(std::uint32_t bytes);
  std::uint32_t make_stack_locked(const Found& found);

  static constexpr os::Mutex& stacks_mutex_ = os::global_mutex<os::LockRank::kSampledStacks>();
  Part parts_[kParts];
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<StackTable*> table_{nullptr};
  std::size_t stack_count_ = 0;
  std::atomic<std::uint32_t> piece_count_{0};
  std::atomic<char*> memos_{nullptr};               // by the thread's number
  std::uint32_t used_in_piece_ = kStackPieceBytes;  // of the last one, bytes
  char* pieces_[kMostPieces] = {};
};

extern Samples samples;

}  // namespace tarn::internal
