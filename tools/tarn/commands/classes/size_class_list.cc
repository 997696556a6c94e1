// Lists of size classes.
#include "commands/classes/size_class_list.h"

#include <fmt/format.h>

#include "central/classes/class_table.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

ListedClass listed(const internal::ClassGeometry& geometry, std::uint32_t smallest_request) {
  return {.smallest_request = smallest_request,
          .block_bytes = geometry.block_bytes,
          .stride = geometry.stride,
          .slab_bytes = internal::bytes_of(geometry.slab_pages),
          .block_count = geometry.block_count};
}

// -- Buckets ---------------------------------------------------------------------------------------------

/// Buckets of one granularity, from where the last end.
struct BucketRow {
  unsigned count;
  std::uint32_t granularity;  // bytes
};
constexpr BucketRow kBucketRows[] = {{32, 8}, {16, 16}, {16, 32}, {16, 64}, {16, 128}, {16, 256}, {16, 512}};

}  // namespace

const internal::SizeClassPreset& preset_of_name(const std::string& name) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets)
    if (name == preset.name) return preset;
  throw UsageError(fmt::format("no preset '{}': use {}", name, kPresetNames.text));
}

std::vector<ListedClass> list_classes(const internal::BlockSizes& sizes) {
  const internal::ClassTable table = internal::make_class_table(sizes);
  std::vector<ListedClass> classes;
  std::uint32_t smallest_request = 1;
  for (const std::uint32_t bytes : sizes) {
    classes.push_back(listed(table.geometry[table.lookup().of_size(bytes)], smallest_request));
    smallest_request = bytes + 1;
  }
  return classes;
}

std::vector<ListedClass> list_aligned_classes() {
  std::vector<ListedClass> classes;
  std::uint32_t smallest_request = 1;
  for (unsigned bin = detail::kFirstAlignedBin; bin < internal::kBinCount; ++bin) {
    classes.push_back(listed(internal::kGeometry.of[bin], smallest_request));
    smallest_request = classes.back().block_bytes + 1;
  }
  return classes;
}

std::vector<Bucket> list_buckets() {
  const internal::ClassTable table =
      internal::make_class_table(internal::sizes_of_preset(preset_of_name("lfh128")));
  std::vector<Bucket> buckets;
  std::uint32_t bytes = 0;
  for (const BucketRow& row : kBucketRows)
    for (unsigned i = 0; i < row.count; ++i) {
      bytes += row.granularity;
      buckets.push_back({.number = static_cast<unsigned>(buckets.size()) + 1,
                         .bytes = bytes,
                         .served_by = table.geometry[table.lookup().of_size(bytes)].block_bytes});
    }
  return buckets;
}

}  // namespace tarn::tool
