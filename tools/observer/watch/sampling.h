// The samples of blocks that a program's library has (src/observe/profile/samples.h), and the switch that
// makes it take some (src/thread/observation/observation.h). Both are words in the program's memory: nothing
// of it is stopped.
//
// Threads: one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observer/process/source.h"
#include "observer/records/bounds.h"
#include "observer/records/layout.h"
#include "observer/watch/watch_beat.h"

namespace tarn::observer {

/// A stack that sampled blocks of one pool came from, and what its samples stood for since the program began.
struct SampledStack {
  std::uint64_t number = 0;  // constant as long as the program runs
  std::uint64_t pool = 0;    // number of the pool; 0: the general pool
  std::uint64_t samples = 0;
  double blocks = 0, bytes = 0;
  std::uint64_t temporary_samples = 0;  // of blocks that lived a millisecond at most
  double temporary_blocks = 0, temporary_bytes = 0;
  double second_bytes = 0;         // of blocks that lived a second at most
  std::vector<Address> addresses;  // where calls return to, the innermost first
};

struct SampledBlock {
  Address block = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t stack = 0;      // its number; 0: none was recorded
  std::uint64_t interval = 0;   // bytes
  std::uint64_t pool = 0;
  std::uint64_t made_ns = 0;  // by the program's clock; 0: not told
};

/// What is asked of how long blocks lived.
enum class Lives : std::uint8_t {
  kTemporary,  // which lived a millisecond at most
  kAll,
};

/// A file that addresses of stacks lie in, as it was from one stack on until another was noted there.
struct NotedModule {
  Address start = 0, end = 0;
  std::uint64_t first_stack = 0;  // its number
  std::string path, build_id;

  bool has(std::uint64_t stack, Address address) const {
    return first_stack <= stack && address >= start && address < end;
  }
};

struct Sampling {
  std::uint64_t interval = 0;        // bytes; 0: nothing is sampled now
  std::uint64_t lost = 0;            // samples that there was no memory for
  std::vector<SampledStack> stacks;  // by their numbers
  std::vector<SampledBlock> live;
  std::vector<NotedModule> modules;  // in the order in which they were noted
  bool is_whole = true;              // else a bound was met: forged figures
};

/// Where the words of a program's library lie.
class SamplingWords {
 public:
  /// \throws ObserveError when the program has no tarn, or one without samples.
  explicit SamplingWords(const Source& source);

  Sampling read() const;
  /// The same without stacks.
  Sampling read_live() const;
  void read_stacks(Sampling& sampling) const;
  /// Adds the stacks of live samples, and no others. \why a search for leaks has few of them left
  void read_stacks_of_live(Sampling& sampling) const;
  std::uint64_t interval() const;
  /// How often it was switched.
  std::uint64_t switches() const;
  /// \throws ObserveError where the library does not tell that of blocks, or samples every one.
  void require(Lives lives) const;
  /// Whether the program's memory is still there.
  bool can_be_read() const;
  /// Whether a call of the program has noticed the last switch.
  bool is_noticed() const;

  /// Lets the program sample a block each `interval` bytes; 0: none. \pre the source is a process. \throws
  /// ObserveError when its memory may not be written, or it has ended.
  void set(std::uint64_t interval) const;
  /// Where it is counted that the profile's tool is there.
  LeaseWord lease() const;
  /// Stops all threads for a moment, and lets each of them notice the switch at its next call: also where no
  /// thread comes to a slow door by itself. \throws ObserveError when a debugger is attached.
  void ring() const;

 private:
  /// \param wanted numbers, the lowest first; nullptr: all.
  void read_stacks(Sampling& sampling, Bounds& bounds, const std::vector<std::uint64_t>* wanted) const;
  void read_live(Sampling& sampling, Bounds& bounds) const;
  void read_modules(Sampling& sampling, Bounds& bounds) const;
  std::uint64_t number(Address record, std::string_view field) const;

  const Source& source_;
  Layout layout_;
};

struct SamplingRange {
  Address start = 0;
  std::uint64_t bytes = 0;
};
/// Where the samples lie, which name blocks: they are no roots of these. \returns nothing of libraries that
/// take none.
std::vector<SamplingRange> sampling_ranges(const Source& source, const Layout& layout);

/// How many blocks a sample stands for.
double blocks_of(const SampledBlock& sample);

}  // namespace tarn::observer
