// Leaks put together by their stacks, and told in words, as `tarn run --leaks` tells them.
//
// Threads: one.
#pragma once
#include <cstdint>

#include "observe/leaks/leak_blocks.h"
#include "observe/leaks/leak_suppressions.h"

namespace tarn::internal {

/// What a block's pool is called, as a visit of live blocks tells it.
struct LeakPool {
  char kind[16], name[32];  // kind "": the general pool
};

/// Leaks of one pool, from one stack.
struct LeakGroup {
  std::uint64_t blocks, bytes, least_bytes, most_bytes;
  std::uint32_t stack;
  std::uint16_t pool;
};

struct LeakSum {
  std::uint64_t blocks = 0, bytes = 0;
};

class LeakGroups {
 public:
  /// Puts the blocks together that are reached like `reached`, the largest groups first.
  /// \returns false when memory is refused.
  bool make(LeakBlocks& blocks, Reached reached);

  const LeakSum& sum() const { return sum_; }
  std::size_t size() const { return groups_.size(); }
  const LeakGroup* begin() const { return groups_.begin(); }
  const LeakGroup* end() const { return groups_.end(); }

 private:
  MappedArray<std::uint32_t> chosen_;
  MappedArray<LeakGroup> groups_;
  LeakSum sum_;
};

/// Tells groups of leaks in words.
class LeakWriter {
 public:
  static constexpr std::size_t kMostGroups = 50;
  static constexpr unsigned kMostFrames = 24;

  /// \param modules whose offsets the frames are told in \param pools of the groups, by their numbers
  LeakWriter(const LoadedModules& modules, const LeakPool* pools) : modules_(modules), pools_(pools) {}

  void add_group(Text& text, const LeakGroup& group) const;
  /// \param stack that the address is of; 0: none
  void add_frame(Text& text, const char* word, std::uint32_t stack, std::uint64_t address) const;
  /// "1,234 bytes in 5 blocks"
  static void add_sum(Text& text, const LeakSum& sum);

  /// Writes groups to standard error, and the sum.
  void write(const LeakGroups& groups) const;

 private:
  void write_group(const LeakGroup& group) const;
  unsigned first_frame_of_program(const SampledStack& stack) const;

  const LoadedModules& modules_;
  const LeakPool* const pools_;
};

}  // namespace tarn::internal
