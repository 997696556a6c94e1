// The live blocks of a program, as a search for leaks knows them: found by any address inside.
//
// Invariant, after link(): blocks are in the order of their addresses, of two that begin at one the larger
// first; two blocks lie apart, or one lies in the other (a heap's block in the buffer that the heap has);
// `around` is the smallest block that another lies in. first_from_[i] is the first block that does not begin
// before the bucket i of the addresses.
// Threads: one.
#pragma once
#include <cstdint>

#include "observe/profile/samples.h"
#include "os/memory/mapped_array.h"

namespace tarn::internal {

/// Whether something points to a block.
enum class Reached : std::uint8_t {
  kNo,
  kFromProgram,
  kFromSuppressed,  // only from a leak that is known
};

struct LeakBlock {
  std::uint64_t start, bytes;  // that the program may use
  std::uint64_t requested;     // as its sample says
  std::uint32_t stack;         // its sample's number; 0: it has no sample
  std::uint32_t around;
  std::uint32_t serial;  // of its sample
  std::uint16_t pool;    // among the names of pools
  Reached reached;
  bool is_sampled, needs_no_pointer, has_inner;

  std::uint64_t end() const { return start + bytes; }
  bool contains(std::uint64_t address) const { return address - start < bytes; }
};

class LeakBlocks {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// \returns false when memory is refused.
  bool add(const LeakBlock& block) { return blocks_.size() < kNone && blocks_.push(block); }
  /// Puts what was added in order.
  void sort();
  /// Gives each block the sample that find(start, sample) finds. A sample of a run of blocks, which lie side
  /// by side, is of all of them. \pre sort() came before, link() comes later
  template <typename Find>
  void note_samples(Find find) {
    Sample sample{};
    // From the last on: a run ends before a part that has a sample of its own. Of blocks that begin at one
    // address the innermost is the one that was sampled for itself.
    for (std::uint32_t i = size(); i-- > 0;)
      if (is_innermost_at_its_start(i) && find(blocks_[i].start, sample))
        note_sample(blocks_.begin() + i, sample);
  }
  /// \post find() works. \returns false when memory is refused.
  bool link();

  /// \returns the smallest block that holds an address; kNone: there is none.
  std::uint32_t find(std::uint64_t address) const;
  /// \returns the first block that does not begin before an address.
  std::uint32_t first_from(std::uint64_t address) const;
  /// Calls visit(start, end) for the parts of a range where no block lies, but for `outer` and what it lies
  /// in.
  template <typename Visit>
  void for_each_gap(std::uint64_t start, std::uint64_t end, std::uint32_t outer, Visit visit) const {
    std::uint32_t next = outer == kNone ? first_from(start) : outer + 1;
    if (outer == kNone) start = end_of_blocks_around(start);
    for (; next < size() && blocks_[next].start < end; ++next) {
      if (blocks_[next].start > start) visit(start, blocks_[next].start);
      if (blocks_[next].end() > start) start = blocks_[next].end();
    }
    if (start < end) visit(start, end);
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  LeakBlock& operator[](std::uint32_t i) { return blocks_[i]; }
  const LeakBlock& operator[](std::uint32_t i) const { return blocks_[i]; }
  LeakBlock* begin() { return blocks_.begin(); }
  LeakBlock* end() { return blocks_.end(); }

  template <typename Visit>
  void visit_memory(Visit visit) const {
    visit(blocks_.memory());
    visit(buckets_.memory());
  }

 private:
  static constexpr std::size_t kMostBuckets = std::size_t{1} << 20;

  bool is_innermost_at_its_start(std::uint32_t i) const {
    return i + 1 == size() || blocks_[i + 1].start != blocks_[i].start;
  }
  /// \returns the address, or where the outermost block that holds it ends.
  std::uint64_t end_of_blocks_around(std::uint64_t address) const;
  void note_sample(LeakBlock* block, const Sample& sample);
  void drop_parts_of_runs();
  void note_around();
  bool make_buckets();

  os::MappedArray<LeakBlock> blocks_;
  os::MappedArray<std::uint32_t> buckets_;
  std::uint64_t lowest_ = 0, highest_ = 0;  // of their addresses
  unsigned shift_ = 0;                      // from bytes to buckets
};

}  // namespace tarn::internal
