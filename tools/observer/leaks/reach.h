// Which live blocks a program can still reach: conservatively, every aligned word that could be an address is
// taken for one, also of the inside of a block.
//
// The idea: spans wait in a queue, not blocks. When a span's turn comes, all of its blocks that were found
// meanwhile are read together, in pieces (as Go's collector does since 2025: "Green Tea", golang/go#73581).
// There is no recursion, and the queue is never longer than there are spans.
//
// Invariant: a block is marked before it is scanned, and scanned once; a span with marked blocks that are not
// scanned is queued.
// Threads: mark() starts one per processor, at most kMostThreads, and waits for them.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "observer/leaks/block_table.h"
#include "observer/leaks/roots.h"
#include "observer/process/residency.h"
#include "observer/process/source.h"

namespace tarn::observer {

class Reach {
 public:
  using Place = BlockTable::Place;

  /// `written`: the pages that hold something; nullptr: not known, all are read. All must outlive it.
  Reach(const Source& source, const BlockTable& table, const Residency* written);

  /// Marks what can be reached from roots. `watch` is told now and then, on the calling thread, how many
  /// bytes were read.
  void mark(const Roots& roots, const std::function<void(std::uint64_t)>& watch = {});

  bool is_marked(Place place) const { return bit_of(marked_, table_.number_of(place)); }
  /// By address. Not those of handle pools, and of pools that are not to be read.
  std::vector<Place> unreachable() const;

  /// That could not be read, or were not to be: what they point to counts as unreachable.
  std::uint64_t unread_bytes() const { return unread_bytes_; }
  std::uint64_t sensitive_bytes() const { return sensitive_bytes_; }
  std::uint64_t read_bytes() const { return read_bytes_; }

 private:
  class Worker;
  class SpanQueue;
  using Bits = std::unique_ptr<std::atomic<std::uint64_t>[]>;

  static bool bit_of(const Bits& bits, std::uint64_t number) {
    return (bits[number / 64].load(std::memory_order_relaxed) >> number % 64 & 1) != 0;
  }
  /// Blocks that no pointer needs to name.
  void mark_handle_groups();
  bool is_sensitive(std::uint32_t span) const;
  bool is_reported(std::uint32_t span) const;

  const Source& source_;
  const BlockTable& table_;
  const Residency* const written_;
  Bits marked_, scanned_;                        // a bit for each block
  std::unique_ptr<std::atomic<bool>[]> queued_;  // for each span
  std::unique_ptr<SpanQueue> queue_;
  std::vector<AddressRange> root_pieces_;
  std::atomic<std::size_t> next_piece_{0};
  std::atomic<std::uint64_t> read_bytes_{0}, unread_bytes_{0};
  std::uint64_t sensitive_bytes_ = 0;

 public:
  ~Reach();
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;
};

}  // namespace tarn::observer
