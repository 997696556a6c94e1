#include "central/classes/size_class.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t unused_bytes(const ClassOfBin& classes, Bin bin, std::uint32_t request) {
  return kGeometry[classes[bin]].block_bytes - request;
}

constexpr bool every_request_fits(const ClassOfBin& classes) {
  for (unsigned bin = 1; bin < kBinCount; ++bin)
    if (const SizeClass size_class = classes[Bin{bin}];
        kGeometry[size_class].block_bytes < bin_limit(Bin{bin}) ||
        classes[Bin{index_of_class(size_class)}] != size_class)
      return false;
  return true;
}
constexpr bool every_request_fits_in_every_preset() {
  for (const ClassOfBin& classes : kPresetClasses.of)
    if (!every_request_fits(classes)) return false;
  return true;
}
static_assert(every_request_fits_in_every_preset());

constexpr bool bins_meet_their_limits() {
  for (unsigned bin = 1; bin < detail::kTinyBin; ++bin) {
    const std::uint32_t largest = bin_limit(Bin{bin});
    if (largest > detail::kTinyLimit && detail::bin_of(largest) != Bin{bin}) return false;
    if (largest < detail::kMediumLimit && detail::bin_of(largest + 1) != Bin{bin + 1}) return false;
  }
  return bin_limit(Bin{detail::kTinyBin - 1}) == detail::kMediumLimit;
}
static_assert(bins_meet_their_limits());

constexpr bool default_wastes_little() {
  const ClassOfBin& classes = kPresetClasses.of[0];
  for (unsigned bin = 9; bin < detail::kTinyBin; ++bin) {
    const std::uint32_t smallest_request = bin_limit(Bin{bin - 1}) + 1;
    const std::uint32_t block_bytes = kGeometry[classes[Bin{bin}]].block_bytes;
    if (unused_bytes(classes, Bin{bin}, smallest_request) * (block_bytes <= kOwnSlabBlockBytes ? 8 : 3) >
        block_bytes)
      return false;
  }
  return true;
}
static_assert(default_wastes_little());

// index_of() may be off by one between two blocks, never at a block's start: the rounding error of the
// reciprocal stays below 1/stride.
constexpr bool indices_are_exact() {
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    const ClassGeometry& g = kGeometry.of[bin];
    for (std::uint32_t i = 0; i<g.block_count; i += g.block_count> 64 ? 61 : 1)
      if (index_of(g, i * g.stride) != BlockIndex{i}) return false;
    if (index_of(g, (g.block_count - 1u) * g.stride) != BlockIndex{g.block_count - 1u}) return false;
  }
  return true;
}
static_assert(indices_are_exact());
static_assert(kGeometry.of[detail::kTinyBin].word_count <= 128);

// A class with a stride that is a multiple of the alignment: mostly the class of the size rounded up to it.
constexpr SizeClass find_aligned_class(const ClassLookup& classes, std::size_t size, std::size_t alignment) {
  // A slab of one block starts on a page.
  if (size > kOwnSlabBlockBytes && size <= detail::kMediumLimit && alignment <= kPageBytes)
    return classes.of_size(size);
  if (size > kOwnSlabBlockBytes || alignment > kOwnSlabBlockBytes) return SizeClass::kNone;
  const std::size_t needed = size == 0 ? alignment : round_up(size, alignment);
  const unsigned power = 63u - static_cast<unsigned>(__builtin_clzll(needed < 128 ? 128 : needed * 2 - 1));
  const SizeClass power_class = class_of_index(detail::kFirstAlignedBin + power - 7);
  for (std::size_t least = needed;;) {
    const SizeClass candidate = classes.of_size(least);
    const ClassGeometry& geometry = classes.geometry[candidate];
    if (geometry.block_bytes >= classes.geometry[power_class].block_bytes) return power_class;
    if ((geometry.stride & (alignment - 1)) == 0) return candidate;
    least = geometry.block_bytes + 1;
  }
}

constexpr detail::ClassOfStep aligned_steps(const ClassLookup& classes) {
  detail::ClassOfStep steps{};
  for (std::size_t step = 1; step * 64 <= detail::kSteppedLimit; ++step)
    steps.of[step] = static_cast<detail::BinClass>(find_aligned_class(classes, step * 64, 64));
  return steps;
}

constexpr detail::ClassOfStep aligned_steps_of_default() {
  const detail::ClassOfStep steps = make_class_of_step(kPresetClasses.of[0]);
  return aligned_steps({kPresetClasses.of[0], steps, kGeometry});
}

}  // namespace

alignas(kCacheLineBytes) constinit ClassGeometryTable bin_geometry = make_geometry_table();
constinit ClassOfBin rare_class_of_bin = make_rare_class_of_bin(kPresetClasses.of[0]);
constinit detail::ClassOfStep class_of_aligned_step = aligned_steps_of_default();

detail::ClassOfStep make_class_of_aligned_step(const ClassLookup& classes) { return aligned_steps(classes); }

SizeClass aligned_class_of(const ClassLookup& classes, std::size_t size, std::size_t alignment) {
  return find_aligned_class(classes, size, alignment);
}

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

// The default table exists from the start; another replaces it before the first slab is made.
constinit ClassOfBin class_of_bin = internal::kPresetClasses.of[0];
constinit ClassOfStep class_of_step = internal::make_class_of_step(internal::kPresetClasses.of[0]);

}  // namespace TARN_NAMESPACE::detail
