// Leaks of a program: live blocks that nothing of it points to any more.
//
// The program may run while it is looked at, so that a look may miss where a pointer has just been moved to.
// Only blocks that two looks, some time apart, find unreachable, live and with the same first bytes count.
// While looks of a busy program disagree, there are more of them; and its leaks have to stay live in some
// snapshots besides. A core file rests: one look is enough.
//
// A leak is direct, or another leak points to it: then it is indirect, kept by that one. Of leaks that point
// at each other in a circle, the one with the lowest address counts as direct (as LeakSanitizer has it).
//
// Threads: each function from one; it may start others and waits for them.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "observer/leaks/block_table.h"
#include "observer/leaks/reach.h"
#include "observer/leaks/roots.h"
#include "observer/objects/class_names.h"
#include "observer/process/residency.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

inline constexpr std::size_t kHeadBytes = 32;
using Head = std::array<std::byte, kHeadBytes>;

/// A block that a look has found unreachable.
struct Suspect {
  Block block;
  Head head = {};              // its first bytes
  std::size_t head_bytes = 0;  // fewer where the block is smaller, or could not be read
};

/// What one look found. Suspects are sorted by address.
struct Look {
  std::vector<Suspect> suspects;
  std::uint64_t live_blocks = 0, live_bytes = 0;  // that the look examined
  std::uint64_t read_bytes = 0;
  std::uint64_t unread_bytes = 0;     // that could not be read, or are a device's
  std::uint64_t sensitive_bytes = 0;  // of pools that are not to be read
};

/// Examines a program whose snapshot was just made. `words` are of registers.
Look look_for_leaks(const Source& source, const Snapshot& snapshot, std::vector<Address> words,
                    const std::function<void(std::uint64_t)>& watch = {});

/// \returns of a look's suspects those that earlier looks had too, with the same first bytes.
std::vector<Suspect> confirmed(const std::vector<Suspect>& earlier, const Look& look);

/// \returns the suspects that are live in a later snapshot too, with the same first bytes. \why a batch of
/// free blocks that changes hands while a snapshot is read looks live in that one.
std::vector<Suspect> still_live(const Source& source, const Snapshot& later,
                                const std::vector<Suspect>& suspects);

struct LeakSum {
  std::uint64_t blocks = 0, bytes = 0;
  void add(std::uint64_t block_bytes) {
    ++blocks;
    bytes += block_bytes;
  }
};

/// Leaks of one class, or of one size where they have none.
struct LeakGroup {
  std::string class_name;
  std::uint64_t block_bytes = 0;  // as CensusGroup has it
  std::string pool;
  LeakSum direct, indirect;
  LeakSum kept;  // indirect leaks, of any group, that the direct ones keep
  Suspect example;
};

/// All leaks of a program: their sums, and their groups.
struct LeaksByClass {
  LeakSum direct, indirect;
  std::vector<LeakGroup> groups;  // by what the direct ones take and keep, the most first
  std::uint64_t blocks() const { return direct.blocks + indirect.blocks; }
  std::uint64_t bytes() const { return direct.bytes + indirect.bytes; }
};

/// Tells direct leaks from indirect ones, and names them. \pre leaks are sorted by address
LeaksByClass group_leaks(const Source& source, const Snapshot& snapshot, const std::vector<Suspect>& leaks,
                         ClassNames& names);

/// Of each leak: the direct leak that keeps it, by its index; its own index: it is direct.
/// \pre leaks are sorted by address
std::vector<std::uint32_t> keepers_of(const Source& source, const std::vector<Suspect>& leaks);

}  // namespace tarn::observer
