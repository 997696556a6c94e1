// Makes a table of size classes of block sizes that are known only at run time.
//
// A class above 1 KiB and up to 16 KiB has the number of its bin, or the nearest that leaves one for each
// other: numbers ascend with sizes, and a table of 64 such classes has all 64 numbers. All other classes have
// the numbers of their bins, and the measures that these always have.
//
// Invariant: a class is at least as large as each request that it serves.
#pragma once
#include "central/classes/block_sizes.h"

namespace tarn::internal {

/// A whole table, beside that in use.
struct ClassTable {
  ClassOfBin of_bin{};
  detail::ClassOfStep of_step{};
  ClassGeometryTable geometry = kGeometry;

  constexpr ClassLookup lookup() const { return {of_bin, of_step, geometry}; }
};

/// \returns the number of a medium class, where the last class has the number `last` and `left` medium ones
/// are to come, this among them.
constexpr unsigned number_of_medium(std::uint32_t bytes, unsigned last, unsigned left) {
  const unsigned own = number_of(detail::bin_of(bytes));
  const unsigned at_most = detail::kFirstCoarseBin - left;
  return own <= last ? last + 1 : own > at_most ? at_most : own;
}

/// Writes what requests are looked up in, and the measures of medium classes. \pre a list that was read.
constexpr void write_class_table(const BlockSizes& sizes, ClassOfBin& of_bin, detail::ClassOfStep& of_step,
                                 ClassGeometryTable& geometry) {
  unsigned bin = 1, last = 0, left = sizes.medium_count();
  std::size_t step = 1;
  for (const std::uint32_t bytes : sizes) {
    const bool is_tiny = bytes == detail::kTinyLimit;
    unsigned number = number_of(detail::bin_of(bytes));
    if (BlockSizes::is_medium(bytes)) {
      number = number_of_medium(bytes, last < detail::kFirstMediumBin ? detail::kFirstMediumBin - 1 : last,
                                left--);
      geometry.of[number] = make_geometry(bytes, coloured_stride(bytes));
    }
    if (!is_tiny) last = number;
    const detail::BinClass size_class = detail::bin_class_of_index(number);
    if (is_tiny) of_bin.of[detail::kTinyBin] = size_class;
    for (; bin < detail::kTinyBin && bin_limit(Bin{bin}) <= bytes; ++bin) of_bin.of[bin] = size_class;
    for (; step * 64 <= detail::kSteppedLimit && step * 64 <= bytes; ++step) of_step.of[step] = size_class;
  }
  if (*sizes.begin() != detail::kTinyLimit) of_bin.of[detail::kTinyBin] = of_bin.of[1];
  for (unsigned aligned = detail::kFirstAlignedBin; aligned < kBinCount; ++aligned)
    of_bin.of[aligned] = detail::bin_class_of_index(aligned);
}

constexpr ClassTable make_class_table(const BlockSizes& sizes) {
  ClassTable table;
  write_class_table(sizes, table.of_bin, table.of_step, table.geometry);
  return table;
}

}  // namespace tarn::internal
