// The classes of a table in the order of their sizes, with the requests each one serves; computed from the
// tables that the library itself uses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "central/classes/block_sizes.h"

namespace tarn::tool {

/// "default, lfh128 or stepped"
inline constexpr internal::PresetText kPresetNames =
    internal::join_presets(&internal::SizeClassPreset::name, "", ", ", " or ", "");

struct ListedClass {
  std::uint32_t smallest_request;  // one more than the next smaller class holds
  std::uint32_t block_bytes;
  std::uint32_t stride;
  std::size_t slab_bytes;
  std::uint32_t block_count;

  std::size_t tail_bytes() const { return slab_bytes - std::size_t{block_count} * stride; }
  double tail_percent() const {
    return 100.0 * static_cast<double>(tail_bytes()) / static_cast<double>(slab_bytes);
  }
  double worst_waste_percent() const { return 100.0 * (block_bytes - smallest_request) / block_bytes; }
  double mean_waste_percent() const { return worst_waste_percent() / 2; }  // every request in the range alike
};

/// \throws UsageError if there is no preset of that name
const internal::SizeClassPreset& preset_of_name(const std::string& name);

std::vector<ListedClass> list_classes(const internal::BlockSizes& sizes);

/// The classes for large alignments, the same in every table.
std::vector<ListedClass> list_aligned_classes();

// -- Buckets ---------------------------------------------------------------------------------------------
//
// The 128 buckets of the Windows Low Fragmentation Heap (source 001), and what the preset `lfh128` has in
// their places. That heap's sizes are multiples of 8. Here a block above 8 bytes is aligned to 16, so sizes
// are multiples of 16: 24, 40 ... 248 are no classes, and the next larger bucket serves them.

struct Bucket {
  unsigned number;          // from 1 on
  std::uint32_t bytes;      // of the heap's largest request for it
  std::uint32_t served_by;  // bytes of the block of `lfh128` that serves that request

  bool is_class() const { return bytes == served_by; }
  double waste_percent() const { return 100.0 * (served_by - bytes) / served_by; }
};

std::vector<Bucket> list_buckets();

}  // namespace tarn::tool
