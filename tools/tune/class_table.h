// What a table of size classes costs a program whose live blocks are known, and the table that costs least.
//
// A block costs its share of a full slab: slab bytes over blocks, so the stride and the tail of the slab
// count. A block above 32 KiB has a slab of its own and costs the OS pages of its request. A class that has
// blocks costs `price` bytes besides, for pages that it alone touches. The floor is what no table removes:
// requests rounded up to 16 bytes, the smallest to 8. What a table costs above the floor is its waste.
//
// Not counted: free blocks in slabs and magazines, blocks above 256 KiB, and that a coarser class serves one
// with few requests (decision 012).
//
// The best table is found by dynamic programming over the sizes that may be classes. This is done in parts,
// up to 1 KiB, 16 KiB, 32 KiB and 256 KiB: no class serves a request of another part. Each part ends in a
// class.
// A program also makes requests that the histogram lacks: a class of `default` that would take no live block
// from a chosen one is in the table, as far as there is room; so is one above 1 KiB that would take some,
// when the chosen one is more than half larger.
#pragma once
#include <cstdint>
#include <string>

#include "central/classes/block_sizes.h"
#include "tune/size_histogram.h"

namespace tarn::tune {

using internal::BlockSizes;

/// Bytes of all blocks up to 256 KiB.
struct TableCost {
  std::uint64_t requested = 0;
  std::uint64_t floor = 0;
  double blocks = 0;  // their shares of slabs
  double price = 0;   // of the classes that have blocks
  unsigned classes = 0;

  double heap() const { return blocks + price; }
  double waste() const { return heap() - static_cast<double>(floor); }
  double waste_percent() const { return heap() == 0 ? 0 : 100 * waste() / heap(); }
};

/// Whether sizes up to 1 KiB share classes. Requests for a size without a class of its own take the slow door
/// each time, some nanoseconds.
enum class SmallClasses : std::uint8_t { kKeepAll, kMayMerge };

struct FitOptions {
  double price = 4096;  // bytes
  unsigned most_classes = BlockSizes::kMost;
  SmallClasses small_classes = SmallClasses::kKeepAll;
};

/// The bytes that a block of a class costs: of its slab, or above 32 KiB of the request's OS pages. \pre the
/// size may be a class
double bytes_of_block(std::uint32_t block_bytes, std::uint64_t request);

TableCost cost_of(const BlockSizes& table, const SizeHistogram& histogram, double price);

/// The table that costs the histogram least. \throws BadInput when most_classes is too few for any table
BlockSizes fit(const SizeHistogram& histogram, const FitOptions& options);

/// Few classes may be: one for each part, and all those that stay.
unsigned fewest_classes(SmallClasses small_classes);

/// The text of a file that the library reads. \param comment lines without a # before them
std::string text_of_table(const BlockSizes& table, const std::string& comment);

}  // namespace tarn::tune
