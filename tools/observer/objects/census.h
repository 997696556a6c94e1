// Which C++ classes the live blocks of a program are of, and how many bytes each takes. A block that does not
// begin with a virtual table is counted by its size.
//
// Threads: take_census starts one per processor, at most kMostThreads, and waits for them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "observer/objects/class_names.h"
#include "observer/process/source.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

inline constexpr unsigned kMostThreads = 8;
unsigned useful_threads();

enum class Contents : std::uint8_t {
  kRead,
  kLeave  // no block is read: sizes and pools alone are counted
};

/// Live blocks that are counted together.
struct CensusGroup {
  std::string class_name;         // as C++ writes it; "": no virtual table
  std::uint64_t block_bytes = 0;  // of each block; of large blocks, rounded up to a power of two; 0: a class
  std::string pool;               // "": the general pool
  std::uint64_t blocks = 0, bytes = 0;

  bool is_class() const { return !class_name.empty(); }
};

struct Census {
  std::vector<CensusGroup> groups;  // by bytes, the largest first
  std::uint64_t blocks = 0, bytes = 0;
  std::uint64_t class_blocks = 0, class_bytes = 0;          // of blocks that begin with a virtual table
  std::uint64_t sensitive_blocks = 0, sensitive_bytes = 0;  // counted by size: not to be read
  std::uint64_t unread_bytes = 0;                           // first words that could not be read
};

/// Told now and then, on the calling thread, which part of the work is done: 0 to 1.
using CensusWatch = std::function<void(double)>;

/// \cost about 0.1 us for each block, on one processor
Census take_census(const Source& source, const Snapshot& snapshot, ClassNames& names, Contents contents,
                   const CensusWatch& watch = {});

/// The bytes that blocks of a span are counted under where they have no class.
std::uint64_t counted_size(const Span& span, std::uint64_t block_bytes);

/// The name that a pool is counted under: its own, else its kind and number; "" of kNone.
std::string pool_label(const Snapshot& snapshot, std::uint32_t pool);

/// What became more or fewer between two censuses.
struct Growth {
  CensusGroup group;  // as it is now
  std::int64_t blocks = 0, bytes = 0;
};

/// \returns the groups that changed, by bytes, what grew most first.
std::vector<Growth> growth_since(const std::vector<CensusGroup>& earlier,
                                 const std::vector<CensusGroup>& now);

}  // namespace tarn::observer
