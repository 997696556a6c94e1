// Prints the size classes of every preset and what they waste.
#include <cstdio>

#include "central/classes/size_class.h"

using namespace tarn::internal;

namespace {

/// Percent of a block that is unused, for the request that wastes most and on average over all requests of
/// the class.
struct Waste {
  double worst, mean;
};

Waste waste_of(std::uint32_t smallest_request, std::uint32_t block) {
  const double largest = block - smallest_request;
  return {100.0 * largest / block, 100.0 * largest / 2 / block};
}

void print_preset(const SizeClassPreset& preset) {
  const ClassOfBin classes = make_class_of_bin(preset);
  std::printf("%s\n%9s %9s %9s %9s %9s %9s %9s\n", preset.name, "block", "stride", "slab KiB", "blocks",
              "tail %", "worst %", "mean %");
  std::uint32_t smallest_request = 1;
  for (std::uint32_t size = 1; size <= tarn::detail::kMediumLimit; ++size) {
    const SizeClass size_class = classes[tarn::detail::bin_of(size)];
    const ClassGeometry& geometry = kGeometry[size_class];
    if (geometry.block_bytes != size) continue;
    const double slab = static_cast<double>(bytes_of(geometry.slab_pages));
    const Waste waste = waste_of(smallest_request, size);
    std::printf("%9u %9u %9.0f %9u %9.1f %9.1f %9.1f\n", size, geometry.stride, slab / 1024,
                geometry.block_count, 100 - 100.0 * geometry.block_count * size / slab, waste.worst,
                waste.mean);
    smallest_request = size + 1;
  }
  std::printf("\n");
}

}  // namespace

int main() {
  for (const SizeClassPreset& preset : kSizeClassPresets) print_preset(preset);
}
