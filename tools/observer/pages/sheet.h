// A program's memory in parts that add up to what the kernel counts, and what moved between two looks.
//
// Idea: RSS counts resident pages, so each part is in resident bytes. Of a span whose pages are all resident
// the counts of its blocks suffice; of another one each resident piece is laid over its blocks. Memory that
// is not the library's is summed from the resident runs that lie outside of all its ranges, not as a
// remainder: so whether the parts add up can be checked.
//
// Without a residency, as for core files, the parts are in mapped bytes, and memory that is not the library's
// is not known.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "observer/process/residency.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

enum class Part : std::uint8_t {
  kLive,         // blocks that the program has
  kRounding,     // around them: up to the next block, the ends of slabs, the last page of large blocks
  kCached,       // free blocks that threads and pools have cached
  kDepot,        // free blocks that owners keep for threads
  kFreeInSlabs,  // free blocks in slabs and in chunks of pools, spare slabs, freed large blocks that are kept
  kFreePages,
  kMetadata,
  kOther  // not the library's
};

struct PartName {
  Part part;
  std::string_view title;  // on a screen
  std::string_view key;    // in JSON and metrics
};
inline constexpr PartName kParts[] = {{Part::kLive, "live", "live"},
                                      {Part::kRounding, "rounding", "rounding"},
                                      {Part::kCached, "cached", "cached"},
                                      {Part::kDepot, "depot", "depot"},
                                      {Part::kFreeInSlabs, "free in slabs", "free_in_slabs"},
                                      {Part::kFreePages, "free pages", "free_pages"},
                                      {Part::kMetadata, "metadata", "metadata"},
                                      {Part::kOther, "not tarn", "other"}};

enum class Basis : std::uint8_t { kResident, kMapped };

/// Slabs of which less than half of the blocks are live, but some: these blocks keep the others' memory.
struct Survivors {
  std::uint64_t blocks = 0;        // that live there
  std::uint64_t slab_bytes = 0;    // of these slabs
  std::uint64_t pinned_bytes = 0;  // of these slabs' free blocks
};

struct Sheet {
  Basis basis = Basis::kResident;
  std::array<std::uint64_t, std::size(kParts)> bytes = {};
  /// Resident, in chunks of the library's, but in nothing that the snapshot names. No part; the sum lacks it.
  std::uint64_t unnamed_bytes = 0;
  std::uint64_t rss_bytes = 0;   // as the kernel counts it; 0: mapped bytes are told
  std::uint64_t huge_bytes = 0;  // of them in pages of 2 MiB
  Survivors survivors;
  std::vector<Survivors> survivors_of_class;  // by index of Snapshot::classes
  std::vector<std::uint64_t> bytes_of_pool;   // of its spans, by index of Snapshot::pools

  std::uint64_t of(Part part) const { return bytes[static_cast<std::size_t>(part)]; }
  std::uint64_t sum() const;
  /// How far the sum is from rss_bytes, as a share of it; 0 in mapped bytes.
  double error() const;
};

/// \param residency nullptr: the sheet is in mapped bytes.
/// \cost some ms for 100,000 spans.
Sheet make_sheet(const Snapshot& snapshot, const Residency* residency);

/// What happened a second between two snapshots of one process. Indices are those of the later one; what is
/// new in it began at 0.
struct Rates {
  double seconds = 0;  // between the two; 0: there is only one, and all rates are 0
  std::vector<double> live_of_class;
  struct OfThread {
    double refills = 0, flushes = 0;
  };
  std::vector<OfThread> threads;
  struct OfOwner {
    double refills = 0, flushes = 0;  // of its threads
    double remote_batches = 0;
  };
  std::vector<OfOwner> owners;
  std::vector<double> live_of_pool;
};

Rates rates(const Snapshot& before, const Snapshot& now);

}  // namespace tarn::observer
