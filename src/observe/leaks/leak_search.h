// A search of the running process for live blocks that nothing of its program points to any more.
//
// A look notes all live blocks, gives each its sample with its stack, and marks what can be reached from the
// roots. A block without a sample is older than the profile, or its sample was lost: nobody knows who made
// it, so it counts as reached. So do the objects of handle pools, which no pointer needs to name. While other
// threads run, a block may be freed while a look goes on, or a look may miss where a pointer has just been
// moved to: then several looks must find the same sample's block lost.
//
// Threads: one; the program's others may run. No lock is held while memory is read.
#pragma once
#include "observe/leaks/leak_report.h"
#include "observe/leaks/leak_roots.h"
#include "observe/leaks/leak_suppressions.h"

namespace tarn::internal {

class LeakSearch {
 public:
  /// \param suppressions a file; "": there is none
  explicit LeakSearch(const char* suppressions);

  /// Looks. \param stack_pointer of the calling thread: what lies above it are roots
  /// \returns nullptr, or why there is nothing to tell.
  const char* look(std::uintptr_t stack_pointer);
  bool has_suspects() const { return suspects_.size() != 0; }
  /// Writes what was found to standard error. \returns whether there are leaks.
  bool report();

 private:
  static constexpr std::size_t kMostModules = 1024;

  struct Suspect {
    std::uint64_t start;
    std::uint32_t serial;
  };
  /// A stack whose leaks are known.
  struct KnownStack {
    std::uint32_t number;
    LeakSuppressions::Known* known;
  };

  bool was_suspect(const LeakBlock& block) const;
  bool sort_out(LeakBlocks& blocks, Reachability& reach);
  void reach_what_the_last_look_reached(LeakBlocks& blocks, Reachability& reach) const;
  bool find_known_stacks(LeakBlocks& blocks);
  bool suppress(LeakBlocks& blocks, Reachability& reach);
  void report_suppressed();

  MappedArray<LoadedModule> module_storage_;
  LoadedModules modules_{nullptr, 0};
  LeakSuppressions suppressions_;
  MappedArray<LeakPool> pools_;
  MappedArray<Suspect> suspects_;         // what the last look found lost, by address
  MappedArray<KnownStack> known_stacks_;  // by their numbers
  LeakGroups leaks_, suppressed_;
  unsigned looks_ = 0;
};

}  // namespace tarn::internal
