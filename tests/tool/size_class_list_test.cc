#include "commands/size_class_list.h"

#include <gtest/gtest.h>

#include "system/usage_error.h"

namespace tarn::tool {
namespace {

TEST(SizeClassList, EveryRequestFallsIntoExactlyOneClass) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets) {
    std::uint32_t next_request = 1;
    for (const ListedClass& c : list_classes(internal::sizes_of_preset(preset))) {
      EXPECT_EQ(c.smallest_request, next_request) << preset.name;
      next_request = c.block_bytes + 1;
    }
    EXPECT_EQ(next_request, detail::kMediumLimit + 1) << preset.name;
  }
}

TEST(SizeClassList, TheLibraryServesEachRequestFromTheListedClass) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets) {
    const internal::ClassOfBin class_of_bin = internal::make_class_of_bin(preset);
    for (const ListedClass& c : list_classes(internal::sizes_of_preset(preset)))
      for (const std::uint32_t request : {c.smallest_request, c.block_bytes})
        EXPECT_EQ(internal::kGeometry[class_of_bin[detail::bin_of(request)]].block_bytes, c.block_bytes)
            << preset.name << " " << request;
  }
}

TEST(SizeClassList, BlocksAndTailMakeUpTheSlab) {
  for (const ListedClass& c : list_classes(internal::sizes_of_preset(internal::kSizeClassPresets[0]))) {
    EXPECT_EQ(c.tail_bytes() + std::size_t{c.block_count} * c.stride, c.slab_bytes);
    EXPECT_LT(c.tail_bytes(), c.stride) << c.block_bytes;
  }
}

TEST(SizeClassList, ClassesFinerThanBinsAreListedWithTheirOwnMeasures) {
  internal::BlockSizes sizes;
  for (const std::uint32_t bytes : {4160u, 4224u, 4608u, 32768u, 262144u}) sizes.add(bytes);
  const std::vector<ListedClass> classes = list_classes(sizes);
  ASSERT_EQ(classes.size(), 5u);
  EXPECT_EQ(classes[1].smallest_request, 4161u);
  EXPECT_EQ(classes[1].stride, 4224u);
  EXPECT_EQ(classes[1].block_count, 262144u / 4224);
  EXPECT_EQ(classes[2].stride, 4672u) << "a multiple of 512 bytes is coloured";
}

TEST(SizeClassList, WasteIsThatOfTheSmallestRequest) {
  const ListedClass c = {
      .smallest_request = 61, .block_bytes = 80, .stride = 80, .slab_bytes = 800, .block_count = 10};
  EXPECT_DOUBLE_EQ(c.worst_waste_percent(), 23.75);
  EXPECT_DOUBLE_EQ(c.mean_waste_percent(), 11.875);
}

TEST(SizeClassList, AlignedClassesArePowersOfTwo) {
  const std::vector<ListedClass> aligned = list_aligned_classes();
  ASSERT_FALSE(aligned.empty());
  for (const ListedClass& c : aligned) EXPECT_EQ(c.block_bytes & (c.block_bytes - 1), 0u);
}

TEST(SizeClassList, APresetIsFoundByItsName) {
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets)
    EXPECT_EQ(&preset_of_name(preset.name), &preset);
}

TEST(SizeClassList, AnUnknownPresetIsRefused) { EXPECT_THROW(preset_of_name("fancy"), UsageError); }

}  // namespace
}  // namespace tarn::tool
