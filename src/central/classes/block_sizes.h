// The block sizes of a table of size classes, and the text of a file that lists them (the option
// `classes_file`):
//
//   # a comment, up to the end of the line
//   tarn-classes 1
//   8 16 32 48 ... 262144
//
// Sizes ascend, between spaces or on lines of their own: 8 if it is a class, multiples of 16 up to 1 KiB, at
// most 64 multiples of 64 up to 16 KiB, then sizes of 8 steps per doubling. 32768 and 262144 are among them,
// so that each request up to 256 KiB has a class, and one of at most 32 KiB has blocks that share slabs.
//
// Classes for large alignments are in no list: they are the same in every table.
// Threads: functions of their arguments. Nothing here allocates.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/options/size_class_presets.h"
#include "base/text.h"
#include "central/classes/size_class.h"

namespace tarn::internal {

/// As many classes of more than 1 KiB up to 16 KiB may be as there are numbers for them.
inline constexpr unsigned kMostMediumSizes = detail::kFirstCoarseBin - detail::kFirstMediumBin;

/// The sizes that each table has.
inline constexpr std::uint32_t kRequiredSizes[] = {kOwnSlabBlockBytes, detail::kMediumLimit};

/// Whether a size in bytes may be a class of a table.
constexpr bool may_be_class(std::uint32_t bytes) {
  if (bytes == detail::kTinyLimit) return true;
  if (bytes == 0 || bytes > detail::kMediumLimit) return false;
  if (bytes <= detail::kSmallLimit) return bytes % 16 == 0;
  if (bytes <= detail::kSteppedLimit) return bytes % 64 == 0;
  return bin_limit(detail::bin_of(bytes)) == bytes;
}

/// Ascending sizes in bytes. Invariant of a list that was read: each may be a class, those that are required
/// are there, and at most kMostMediumSizes are medium.
class BlockSizes {
 public:
  static constexpr unsigned kMost = detail::kTinyBin;  // all bins, and the tiny one

  constexpr const std::uint32_t* begin() const { return of_; }
  constexpr const std::uint32_t* end() const { return of_ + count_; }
  constexpr unsigned count() const { return count_; }
  constexpr std::uint32_t last() const { return count_ == 0 ? 0 : of_[count_ - 1]; }
  constexpr unsigned medium_count() const { return medium_count_; }
  /// \pre the size is larger than the last, may be a class, and there is room for it.
  constexpr void add(std::uint32_t bytes) {
    of_[count_++] = bytes;
    medium_count_ += is_medium(bytes);
  }

  static constexpr bool is_medium(std::uint32_t bytes) {
    return bytes > detail::kSmallLimit && bytes <= detail::kSteppedLimit;
  }

 private:
  std::uint32_t of_[kMost] = {};
  unsigned count_ = 0;
  unsigned medium_count_ = 0;
};

/// \returns the block sizes of a preset, without the classes for large alignments.
BlockSizes sizes_of_preset(const SizeClassPreset& preset);

/// What is wrong with a text.
struct BlockSizesFault {
  unsigned line = 1;
  FixedText<160> what;
};

/// Reads a text whole. \returns whether it is a table; else `fault` says why not, and `sizes` has no meaning.
bool read_block_sizes(std::string_view text, BlockSizes& sizes, BlockSizesFault& fault);

}  // namespace tarn::internal
