// Marks which live blocks a program can still reach: conservatively, every aligned word that could be an
// address is taken for one, also of the inside of a block.
//
// A block that is found waits in a list until it is read itself; so nothing recurs. Memory is read through
// functions, in pieces, so that no load of the library's faults, and tests can invent it.
//
// Invariant: a block is marked before it is listed, and listed once; so the list has room for all.
// Threads: one. The program's other threads may run: then two looks must agree (leak_search.cc).
#pragma once
#include <cstdint>

#include "observe/leaks/leak_blocks.h"
#include "observe/profile/code_modules.h"
#include "os/memory/own_memory.h"

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
  os::MappedArray<std::uint32_t> waiting_;
  os::MappedArray<char> buffer_;
  os::AddressRange wanted_[kMostRanges];
  unsigned wanted_count_ = 0;
  std::size_t wanted_bytes_ = 0;
  std::uint64_t unread_bytes_ = 0;
};

// Roots are where a program's pointers begin, seen from inside: all of its memory that is not the heap
// itself. Data and .bss of every file, stacks, thread-local memory, what it has mapped by itself, shared
// memory; and what the kernel tells of threads that wait. The rules are those of the tools, which look from
// outside (tools/observer/leaks/roots.h).
//
// The library's own memory is no root, its data as little as its records: what only the library has an
// address of, the program has lost. Words that the program gave the library count. The dead part of the main
// thread's stack does not count, where that thread is the one that looks.

/// Memory that is not read for roots.
class NotRoots {
 public:
  /// \returns false when memory is refused.
  bool begin();
  void add(os::AddressRange range) {
    if (range.start < range.end && ranges_.size() < kMost) ranges_.push(range);
  }
  /// The reserves, records, tables and data of the library, but for guarded blocks. \param modules tell which
  /// file it is in
  void add_library(const LoadedModules& modules);
  /// Calls visit(start, end) for what is left of a range. \pre sort() came before
  template <typename Visit>
  void for_each_rest(os::AddressRange range, Visit visit) const {
    for (const os::AddressRange& without : ranges_) {
      if (without.end <= range.start || without.start >= range.end) continue;
      if (without.start > range.start) visit(os::AddressRange{range.start, without.start});
      range.start = without.end;
    }
    if (range.start < range.end) visit(range);
  }
  void sort();

 private:
  static constexpr std::size_t kMost = 8192;

  void add_data(os::AddressRange range);

  os::MappedArray<os::AddressRange> ranges_;
};

/// Scans all roots. \param stack_pointer of the calling thread: what lies below it on the main stack is dead.
/// \returns false when the kernel does not tell where they are.
bool scan_roots(Reachability& reach, const NotRoots& not_roots, std::uintptr_t stack_pointer);

/// \returns what reads the process's own memory.
MemoryReader reader_of(os::OwnMemory& memory);

}  // namespace tarn::internal
