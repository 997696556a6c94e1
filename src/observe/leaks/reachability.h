// Marks which live blocks a program can still reach: conservatively, every aligned word that could be an
// address is taken for one, also of the inside of a block.
//
// A block that is found waits in a list until it is read itself; so nothing recurs. Memory is read through
// functions, in pieces, so that no load of the library's faults, and tests can invent it.
//
// Invariant: a block is marked before it is listed, and listed once; so the list has room for all.
// Threads: one. The program's other threads may run: then two looks must agree (leaks_at_exit.cc).
#pragma once
#include <cstdint>

#include "observe/leaks/leak_blocks.h"

namespace tarn::internal {

/// How memory is read: as os::OwnMemory does it.
struct MemoryReader {
  std::size_t (*read)(void* context, const os::AddressRange* ranges, unsigned count, char* to);
  os::AddressRange (*next_written)(void* context, os::AddressRange within);
  void* context;
};

class Reachability {
 public:
  /// All must outlive it. \pre the blocks are linked
  Reachability(LeakBlocks& blocks, const MemoryReader& reader) : blocks_(blocks), reader_(reader) {}
  ~Reachability();
  Reachability(const Reachability&) = delete;
  Reachability& operator=(const Reachability&) = delete;

  /// \returns false when memory is refused.
  bool begin();
  /// Takes a word for an address.
  void consider(std::uint64_t word);
  /// Takes all words of a range for addresses, but for those of blocks in it.
  void scan(os::AddressRange range);
  /// A block is reached though nothing points to it.
  void reach(std::uint32_t block);
  /// Marks what the marked blocks lead to. From now on blocks are marked with `reached`.
  void finish();
  void go_on_as(Reached reached) { as_ = reached; }

  std::uint64_t unread_bytes() const { return unread_bytes_; }
  template <typename Visit>
  void visit_memory(Visit visit) const {
    visit(waiting_.memory());
    visit(buffer_.memory());
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
  // Larger ranges are read only where they were written: a table of zeros is not worth it.
  static constexpr std::size_t kWorthAsking = std::size_t{1} << 20;
  static constexpr unsigned kMostRanges = 64;
  static constexpr std::size_t kSmallestOsPage = 4096;

  void scan_block(std::uint32_t block);
  void want_written(os::AddressRange range);
  void want(os::AddressRange range);
  void read_wanted();
  void skip_unreadable(std::size_t read);
  void consider_all(const char* words, std::size_t bytes);

  LeakBlocks& blocks_;
  const MemoryReader reader_;
  Reached as_ = Reached::kFromProgram;
  MappedArray<std::uint32_t> waiting_;
  MappedArray<char> buffer_;
  os::AddressRange wanted_[kMostRanges];
  unsigned wanted_count_ = 0;
  std::size_t wanted_bytes_ = 0;
  std::uint64_t unread_bytes_ = 0;
};

}  // namespace tarn::internal
