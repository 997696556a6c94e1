// Size classes: the sizes requests round up to. A table is data: a preset
// (base/options/size_class_presets.h) or a file (central/classes/block_sizes.h) lists the block sizes that
// are classes, and all else is computed from it. A preset's classes are named by the largest bin they serve.
// A file may have several classes in a bin above 1 KiB, and none in another; these have the same numbers in
// the order of their sizes (central/classes/class_table.h). Steps of 64 bytes tell them apart, not bins.
//
// Invariants (checked at compile time for every preset): a class is at least as large as each bin it serves;
// in `default` no request above 128 B wastes more than 12.5 % of its block, and above 32 KiB, where the
// kernel backs only what is touched, than a third; index_of() is exact for every block.
//
// Colouring: blocks of a multiple of 512 B would all start on the same cache sets, so their stride is one
// line more (16 B at 512). Aligned classes are exempt. Measured in docs/decisions/004-pools.md.
#pragma once
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "base/options/size_class_presets.h"
#include "base/units.h"
#include "tarn/detail/bins.h"
#include "tarn/detail/hardening.h"

namespace tarn::internal {

using detail::Bin;
using detail::class_of_index;
using detail::index_of_class;
using detail::kBinCount;
using detail::number_of;
using detail::SizeClass;

/// One more than the number of the last class that any pool has had.
inline constinit std::atomic<unsigned> end_of_classes{detail::kFirstPoolClass};

/// Size classes in a row: for (SizeClass size_class : range).
class ClassRange {
 public:
  struct Iterator {
    unsigned index;
    SizeClass operator*() const { return class_of_index(index); }
    // Between the bins and the classes of pools is none.
    Iterator& operator++() {
      index = index + 1 == kBinCount ? detail::kFirstPoolClass : index + 1;
      return *this;
    }
    bool operator!=(const Iterator& end) const { return index < end.index; }
  };
  ClassRange(unsigned first, unsigned end) : first_(first), end_(end) {}
  Iterator begin() const { return {first_}; }
  Iterator end() const { return {end_}; }

 private:
  unsigned first_, end_;
};
/// All that there are, those of pools included.
inline ClassRange all_classes() { return {1, end_of_classes.load(std::memory_order_acquire)}; }

/// The place of a class's record in a thread's cache.
inline constexpr std::size_t kRecordBytes = sizeof(void*) * (detail::kIsHardened ? 4 : 2);
constexpr detail::RecordPlace record_of_class(SizeClass size_class) {
  return detail::RecordPlace{index_of_class(size_class) * (kRecordBytes / 8)};
}
static_assert(number_of(record_of_class(detail::class_of_index(detail::kMostClasses - 1))) <= UINT16_MAX);

constexpr SizeClass class_of_record(detail::RecordPlace record) {
  return class_of_index(static_cast<unsigned>(number_of(record) / (kRecordBytes / 8)));
}

/// Above this size in bytes each block has its own slab, so that any class can reuse the pages it frees.
inline constexpr std::uint32_t kOwnSlabBlockBytes = 32 * 1024;

/// Largest request, in bytes, that falls into a bin; 0 for bin 0.
constexpr std::uint32_t bin_limit(Bin of_bin) {
  using namespace detail;
  const unsigned bin = number_of(of_bin);
  if (bin < kFirstMediumBin) return bin * 16;
  if (bin < kFirstCoarseBin) {
    const unsigned step = bin - kFirstMediumBin, exponent = 10 + step / 16;
    return (1u << exponent) + ((step % 16 + 1) << (exponent - 4));
  }
  if (bin < kTinyBin) {
    const unsigned step = bin - kFirstCoarseBin, exponent = 14 + step / 8;
    return (1u << exponent) + ((step % 8 + 1) << (exponent - 3));
  }
  if (bin == kTinyBin) return kTinyLimit;
  return 128u << (bin - kFirstAlignedBin);
}

/// Blocks of the largest magazine.
inline constexpr unsigned kLargestMagazine = detail::kIsHardened ? 8175 : 8191;

/// The constants of a size class, the same in every preset that has the class.
struct ClassGeometry {
  std::uint32_t block_bytes;  // usable by the caller
  std::uint32_t stride;       // distance of two blocks, bytes
  std::uint32_t reciprocal;   // ceil(2^32 / stride): turns an offset into an index without a division
  std::uint16_t block_count;  // blocks per slab of full size
  std::uint16_t word_count;   // 64-bit words of its bitmap
  PageCount slab_pages;       // of a slab of full size
  // Of the slabs of a small class; smaller than slab_pages, so that they leave room for other classes.
  PageCount first_slab_pages;
  std::uint16_t largest_magazine;  // blocks
  std::uint16_t colours;  // places where a slab may begin, a line apart; 0 or 1: only at its first page
};

/// Whether each block has a slab of its own: it keeps no page but its own. Pools cut larger slabs.
constexpr bool has_own_slab(const ClassGeometry& geometry) {
  return geometry.block_bytes > kOwnSlabBlockBytes && geometry.block_count == 1;
}

constexpr bool is_aligned_class(SizeClass size_class) {
  return index_of_class(size_class) >= detail::kFirstAlignedBin;
}

/// \pre block_bytes <= stride, and blocks are at most 256 KiB.
constexpr ClassGeometry make_geometry(std::uint32_t block_bytes, std::uint32_t stride) {
  ClassGeometry g{};
  g.block_bytes = block_bytes;
  if (g.block_bytes == 0) return g;
  g.stride = stride;
  g.reciprocal = reciprocal_of(g.stride);
  // Above 32 KiB each block has its own slab, so that any class can reuse the pages. The rest of its last
  // page is never touched.
  const PageCount own_pages = pages_for(g.stride);
  g.slab_pages = g.block_bytes <= 1024    ? PageCount{1}
                 : g.block_bytes <= 8192  ? PageCount{4}
                 : g.block_bytes <= 32768 ? PageCount{8}
                                          : own_pages;
  g.first_slab_pages = g.block_bytes <= 8192    ? PageCount{1}
                       : g.block_bytes <= 16384 ? PageCount{2}
                       : g.block_bytes <= 32768 ? PageCount{4}
                                                : own_pages;
  g.block_count = static_cast<std::uint16_t>(bytes_of(g.slab_pages) / g.stride);
  g.word_count = static_cast<std::uint16_t>(bitmap::words_for(g.block_count));
  const std::uint32_t by_bytes = (g.block_bytes > 16384 ? 4 : 1) * 1024 * 1024 / g.block_bytes;
  g.largest_magazine = static_cast<std::uint16_t>(by_bytes < 16                 ? 16
                                                  : by_bytes > kLargestMagazine ? kLargestMagazine
                                                                                : by_bytes);
  return g;
}

/// \returns the stride that keeps blocks of a size off each other's cache sets. A block that is alone in its
/// slab needs none, and would take a page more.
constexpr std::uint32_t coloured_stride(std::uint32_t bytes) {
  if (bytes % 512 != 0 || bytes > kOwnSlabBlockBytes) return bytes;
  return bytes + (bytes >= 1024 ? 64 : 16);
}

/// Of the classes of bins.
struct ClassGeometryTable {
  ClassGeometry of[kBinCount];

  constexpr ClassGeometry& operator[](SizeClass size_class) { return of[index_of_class(size_class)]; }
  constexpr const ClassGeometry& operator[](SizeClass size_class) const {
    return of[index_of_class(size_class)];
  }
};
constexpr ClassGeometryTable make_geometry_table() {
  ClassGeometryTable table{};
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    const std::uint32_t bytes = bin_limit(Bin{bin});
    const bool is_aligned = is_aligned_class(class_of_index(bin));
    table.of[bin] = make_geometry(bytes, is_aligned ? bytes : coloured_stride(bytes));
  }
  return table;
}
inline constexpr ClassGeometryTable kGeometry = make_geometry_table();

/// The same, with the classes of the file in use, if there is one.
extern ClassGeometryTable bin_geometry;

/// Whether it is a pool's.
inline bool is_private_class(SizeClass size_class) { return index_of_class(size_class) >= kBinCount; }

/// \pre a private class. An entry changes only while its class has no slab (central/private_classes.h).
const ClassGeometry& private_geometry(SizeClass size_class);

/// Of every class: class_geometry[size_class].
struct ClassGeometries {
  const ClassGeometry& operator[](SizeClass size_class) const {
    return is_private_class(size_class) ? private_geometry(size_class) : bin_geometry[size_class];
  }
};
inline constexpr ClassGeometries class_geometry;

/// \returns the index of the block at `offset` bytes in its slab; exact when a block starts at that offset.
constexpr BlockIndex index_of(const ClassGeometry& geometry, std::uint32_t offset) {
  return index_of_offset(offset, geometry.reciprocal);
}

/// \returns whether a table has a separate class for a bin.
constexpr bool has_class(const SizeClassPreset& preset, unsigned bin) {
  return bin != 0 && (is_aligned_class(class_of_index(bin)) || preset.has_class(bin_limit(Bin{bin})));
}

/// \returns the class of a bin's own size, whether or not the table in use serves requests with it: what
/// heaps charge for a block that has its pages to itself. \pre the bin's requests are larger than
/// kOwnSlabBlockBytes, where tables only leave steps out.
constexpr SizeClass finest_class(Bin bin) { return class_of_index(number_of(bin)); }

using detail::ClassOfBin;

/// \returns the smallest class of the table that holds each bin.
constexpr ClassOfBin make_class_of_bin(const SizeClassPreset& preset) {
  ClassOfBin classes{};
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    unsigned best = bin == detail::kTinyBin && !has_class(preset, bin) ? 1 : bin;
    while (!has_class(preset, best)) ++best;
    classes.of[bin] = detail::bin_class_of_index(best);
  }
  return classes;
}

/// The tables of all presets.
struct PresetClasses {
  ClassOfBin of[kSizeClassPresetCount];
};
constexpr PresetClasses make_preset_classes() {
  PresetClasses presets{};
  for (std::size_t i = 0; i < kSizeClassPresetCount; ++i)
    presets.of[i] = make_class_of_bin(kSizeClassPresets[i]);
  return presets;
}
inline constexpr PresetClasses kPresetClasses = make_preset_classes();

/// \returns the classes that serve bins while they see little traffic: one for each doubling up to 256 B, two
/// up to 1 KiB. So a small program uses few slabs, and what its blocks lose is less than these would cost.
constexpr ClassOfBin make_rare_class_of_bin(const ClassOfBin& classes) {
  ClassOfBin rare = classes;
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    const std::uint32_t bytes = bin_limit(Bin{bin});
    if (is_aligned_class(class_of_index(bin)) || bytes > detail::kSmallLimit) continue;
    const std::uint32_t power = std::bit_ceil(bytes < 16 ? 16 : bytes);
    const std::uint32_t between = power / 4 * 3;
    const bool fits_between = bytes > 256 && bytes <= between;
    rare.of[bin] = classes.of[number_of(detail::bin_of(fits_between ? between : power))];
  }
  return rare;
}

/// The classes that serve bins of little traffic, of the table in use.
extern ClassOfBin rare_class_of_bin;

/// \returns the class that serves a class's requests while they are rare; the class itself if none does.
inline SizeClass rare_class_of(SizeClass size_class) {
  const unsigned index = index_of_class(size_class);
  const bool is_small = index < detail::kFirstMediumBin || index == detail::kTinyBin;
  return is_small ? rare_class_of_bin[Bin{index}] : size_class;
}

/// The same for detail::class_of_step. A step of 64 bytes lies in one bin.
constexpr detail::ClassOfStep make_class_of_step(const ClassOfBin& classes) {
  detail::ClassOfStep steps{};
  for (std::size_t step = 1; step * 64 <= detail::kSteppedLimit; ++step)
    steps.of[step] = classes.of[number_of(detail::bin_of(step * 64))];
  return steps;
}

/// What requests are looked up in.
struct ClassLookup {
  const ClassOfBin& of_bin;
  const detail::ClassOfStep& of_step;
  const ClassGeometryTable& geometry;

  /// \pre the size is at most 256 KiB.
  constexpr SizeClass of_size(std::size_t size) const {
    const bool is_stepped = size > detail::kSmallLimit && size <= detail::kSteppedLimit;
    return is_stepped ? of_step[(size + 63) / 64] : of_bin[detail::bin_of(size)];
  }
};
/// The table in use.
inline constexpr ClassLookup kClassesInUse{detail::class_of_bin, detail::class_of_step, bin_geometry};

/// \returns the class of the table in use that serves a size of usual alignment. \pre it is at most 256 KiB.
inline SizeClass class_of_size(std::size_t size) { return kClassesInUse.of_size(size); }

/// \returns how many bytes of a block a request takes: with the guard, which only blocks of classes have.
constexpr std::size_t with_guard(std::size_t size) {
  if (!detail::kIsHardened || size > detail::kMediumLimit) return size;
  return size + detail::kGuardBytes <= detail::kTinyLimit ? 2 * detail::kTinyLimit
                                                          : size + detail::kGuardBytes;
}

/// The same for requests aligned to 64 bytes.
extern detail::ClassOfStep class_of_aligned_step;
detail::ClassOfStep make_class_of_aligned_step(const ClassLookup& classes);

/// The smallest class of a table that aligns every block to `alignment` (a power of two above 16) and holds
/// `size` bytes; kNone if there is none. \cost a few steps.
SizeClass aligned_class_of(const ClassLookup& classes, std::size_t size, std::size_t alignment);

}  // namespace tarn::internal
