// Leaks put together by their stacks, those that are known, and how the others are told in words, as
// `tarn run --leaks` tells them.
//
// Threads: one.
#pragma once
#include <cstdint>
#include <string_view>

#include "observe/leaks/leak_blocks.h"
#include "observe/profile/code_modules.h"
#include "observe/profile/samples.h"
#include "os/memory/mapped_array.h"

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
  os::MappedArray<std::uint32_t> chosen_;
  os::MappedArray<LeakGroup> groups_;
  LeakSum sum_;
};

/// \returns the exported function that has an address, as the linker knows it; nullptr: none, or the program
/// has no loader to ask. It takes the loader's lock.
const char* exported_function(std::uint64_t address);

/// Leaks that are known, from a file of the program's user (base/leak_rules.h says how it looks): each
/// pattern is looked for in the files and in the exported functions of a stack.
class LeakSuppressions {
 public:
  struct Known {
    std::string_view pattern;
    std::uint64_t blocks, bytes;  // that it has suppressed
  };

  /// Reads a file; "": there is none. One that cannot be read, and each line that is none, costs a line on
  /// standard error.
  void read(const char* path);
  /// The same from text, which must outlive it. \param name for messages
  void parse(std::string_view text, std::string_view name);

  bool has_any() const { return known_.size() != 0; }
  /// \returns the first pattern that is found in a stack; nullptr: none is.
  Known* find(std::uint32_t stack, const LoadedModules& modules);
  /// The same of one frame's names, of which either may be nullptr.
  Known* find_in(const char* module, const char* function);

  Known* begin() { return known_.begin(); }
  Known* end() { return known_.end(); }

 private:
  os::MappedArray<char> text_;
  os::MappedArray<Known> known_;
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
