#include "commands/classes/bucket_list.h"

#include "central/classes/block_sizes.h"
#include "central/classes/class_table.h"
#include "commands/classes/size_class_list.h"

namespace tarn::tool {
namespace {

/// Buckets of one granularity, from where the last end.
struct BucketRow {
  unsigned count;
  std::uint32_t granularity;  // bytes
};
constexpr BucketRow kBucketRows[] = {{32, 8}, {16, 16}, {16, 32}, {16, 64}, {16, 128}, {16, 256}, {16, 512}};

}  // namespace

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
