// Lists of size classes.
#include "size_class_list.h"

#include <fmt/format.h>

#include <set>

#include "usage_error.h"

namespace tarn::tool {
namespace {

/// From the bins that are classes; a set, because the bin of the tiny class is not in the order of sizes.
std::vector<ListedClass> list_of(const std::set<std::pair<std::uint32_t, unsigned>>& bins_by_size) {
  std::vector<ListedClass> classes;
  std::uint32_t smallest_request = 1;
  for (const auto& [block_bytes, bin] : bins_by_size) {
    const internal::ClassGeometry& geometry = internal::kGeometry.of[bin];
    classes.push_back({.smallest_request = smallest_request,
                       .block_bytes = block_bytes,
                       .stride = geometry.stride,
                       .slab_bytes = internal::bytes_of(geometry.slab_pages),
                       .block_count = geometry.block_count});
    smallest_request = block_bytes + 1;
  }
  return classes;
}

}  // namespace

const internal::SizeClassPreset& preset_of_name(const std::string& name) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets)
    if (name == preset.name) return preset;
  throw UsageError(fmt::format("no preset '{}': use {}", name, kPresetNames.text));
}

std::vector<ListedClass> list_classes(const internal::SizeClassPreset& preset) {
  const internal::ClassOfBin class_of_bin = internal::make_class_of_bin(preset);
  std::set<std::pair<std::uint32_t, unsigned>> bins;
  for (unsigned bin = 1; bin < internal::kBinCount; ++bin) {
    if (internal::is_aligned_class(internal::class_of_index(bin))) continue;
    const unsigned largest = internal::index_of_class(class_of_bin[internal::Bin{bin}]);
    bins.emplace(internal::bin_limit(internal::Bin{largest}), largest);
  }
  return list_of(bins);
}

std::vector<ListedClass> list_aligned_classes() {
  std::set<std::pair<std::uint32_t, unsigned>> bins;
  for (unsigned bin = 1; bin < internal::kBinCount; ++bin)
    if (internal::is_aligned_class(internal::class_of_index(bin)))
      bins.emplace(internal::bin_limit(internal::Bin{bin}), bin);
  return list_of(bins);
}

}  // namespace tarn::tool
