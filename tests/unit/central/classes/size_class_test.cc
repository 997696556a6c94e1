// Exhaustive: every size up to 256 KiB in every preset.
#include "central/classes/size_class.h"

#include <ostream>

#include "support/prelude.h"

namespace tarn::internal {

void PrintTo(const SizeClassPreset& preset, std::ostream* out) { *out << preset.name; }

namespace {

using detail::bin_of;
using detail::kMediumLimit;

// A bin, a class and a plain number are not taken for each other.
static_assert(!std::is_convertible_v<Bin, SizeClass> && !std::is_convertible_v<SizeClass, Bin>);
static_assert(!std::is_convertible_v<unsigned, SizeClass> && !std::is_convertible_v<unsigned, Bin>);
static_assert(!std::is_convertible_v<Bin, unsigned> && !std::is_convertible_v<SizeClass, unsigned>);

class Presets : public ::testing::TestWithParam<SizeClassPreset> {
 protected:
  const ClassOfBin classes = make_class_of_bin(GetParam());
  const detail::ClassOfStep steps = make_class_of_step(classes);
  const ClassLookup lookup{classes, steps, kGeometry};
  const ClassGeometry& geometry_for(std::size_t size) const { return kGeometry[classes[bin_of(size)]]; }
};

TEST_P(Presets, EverySizeGetsTheSmallestClassThatHoldsIt) {
  std::set<std::uint32_t> blocks;
  for (unsigned bin = 1; bin < detail::kFirstAlignedBin; ++bin)
    if (classes[Bin{bin}] == class_of_index(bin)) blocks.insert(kGeometry.of[bin].block_bytes);
  for (std::size_t size = 0; size <= kMediumLimit; ++size)
    ASSERT_EQ(geometry_for(size).block_bytes,
              *blocks.lower_bound(static_cast<std::uint32_t>(size == 0 ? 1 : size)))
        << size;
}

TEST_P(Presets, ARareClassHoldsItsSizesAndIsItsOwn) {
  const ClassOfBin rare = make_rare_class_of_bin(classes);
  std::set<SizeClass> small;
  for (std::size_t size = 0; size <= kMediumLimit; ++size) {
    const Bin bin = bin_of(size);
    const std::uint32_t bytes = kGeometry[rare[bin]].block_bytes;
    ASSERT_GE(bytes, size);
    ASSERT_EQ(kGeometry[rare[bin]].stride % 16, 0u) << size;
    ASSERT_EQ(rare[bin_of(bytes)], rare[bin]) << size;
    if (size > 1024) {
      ASSERT_EQ(rare[bin], classes[bin]) << size;
    } else {
      ASSERT_LE(bytes, size <= 16 ? 32 : 2 * size) << size;
      small.insert(rare[bin]);
    }
  }
  EXPECT_LE(small.size(), 9u);
}

TEST_P(Presets, BlocksAreAlignedToSixteenBytesAndTinyOnesToEight) {
  for (std::size_t size = 0; size <= kMediumLimit; ++size)
    ASSERT_EQ(geometry_for(size).stride % (size <= detail::kTinyLimit ? 8 : 16), 0u) << size;
}

TEST_P(Presets, AlignedRequestsGetBlocksThatAllHaveTheAlignment) {
  for (std::size_t alignment = 32; alignment <= 65536; alignment *= 2)
    for (std::size_t size = 1; size <= kMediumLimit; size += size < 5000 ? 1 : 97) {
      const SizeClass size_class = aligned_class_of(lookup, size, alignment);
      if (size_class == SizeClass::kNone) {
        ASSERT_TRUE(size > 32768 || alignment > 32768) << size << " aligned to " << alignment;
        continue;
      }
      const ClassGeometry& geometry = kGeometry[size_class];
      ASSERT_GE(geometry.block_bytes, size) << alignment;
      const bool is_alone_in_its_pages = geometry.block_count == 1 && alignment <= kPageBytes;
      ASSERT_TRUE(is_alone_in_its_pages || geometry.stride % alignment == 0)
          << size << " aligned to " << alignment;
    }
}

TEST_P(Presets, LookingUpASizeByStepsIsLookingUpItsBin) {
  for (std::size_t size = 0; size <= kMediumLimit; ++size)
    ASSERT_EQ(lookup.of_size(size), classes[bin_of(size)]) << size;
}

TEST_P(Presets, TheTableForAnAlignmentOf64SaysTheSameAsTheSearch) {
  const detail::ClassOfStep aligned = make_class_of_aligned_step(lookup);
  for (std::size_t size = 1; size <= detail::kSteppedLimit; ++size)
    ASSERT_EQ(aligned[(size + 63) / 64], aligned_class_of(lookup, size, 64)) << size;
}

INSTANTIATE_TEST_SUITE_P(Of, Presets, ::testing::ValuesIn(kSizeClassPresets),
                         ::testing::PrintToStringParamName());

TEST(SizeClass, DefaultWastesAtMostAnEighthAbove128BytesAndAThirdWhereBlocksHaveTheirPages) {
  const ClassOfBin& classes = kPresetClasses.of[0];
  for (std::size_t size = 129; size <= kMediumLimit; ++size) {
    const std::size_t block = kGeometry[classes[bin_of(size)]].block_bytes;
    ASSERT_LE((block - size) * (size <= kOwnSlabBlockBytes ? 8 : 3), block) << size;
  }
}

TEST(SizeClass, BlocksAbove32KibHaveTheirOwnSlabsButNotThoseThatAPoolCutsFromLargerOnes) {
  EXPECT_TRUE(has_own_slab(make_geometry(49152, 49152)));
  EXPECT_FALSE(has_own_slab(make_geometry(32768, coloured_stride(32768))));
  ClassGeometry of_heap = make_geometry(32768, coloured_stride(32768));
  of_heap.block_bytes = of_heap.stride;
  EXPECT_FALSE(has_own_slab(of_heap));
}

TEST(SizeClass, ABinAbove32KibHasAClassOfItsOwnSizeInTheTableInUse) {
  for (std::size_t size = kOwnSlabBlockBytes + 1; size <= kMediumLimit; size += 512) {
    const Bin bin = bin_of(size);
    ASSERT_EQ(class_geometry[finest_class(bin)].block_bytes, bin_limit(bin)) << size;
  }
}

// 128 buckets: 32 of 8 bytes, then 16 each of 16, 32, 64, 128, 256 and 512 bytes.
TEST(SizeClass, Lfh128HasTheBucketsOfTheHeapButFifteenUpTo256) {
  ASSERT_STREQ(kSizeClassPresets[1].name, "lfh128");
  const ClassOfBin& classes = kPresetClasses.of[1];
  unsigned missing = 0;
  std::size_t size = 0;
  for (unsigned bucket = 1; bucket <= 128; ++bucket) {
    size += bucket <= 48 ? (bucket <= 32 ? 8u : 16u) : 32u << (bucket - 49) / 16;
    const bool is_there = kGeometry[classes[bin_of(size)]].block_bytes == size;
    EXPECT_TRUE(is_there || size < 256) << size;
    missing += !is_there;
  }
  EXPECT_EQ(size, 16384u);
  EXPECT_EQ(missing, 15u);
}

TEST(SizeClass, BinsGrowWithSizesAndEndAtTheirLimits) {
  for (std::size_t size = detail::kTinyLimit + 1; size < kMediumLimit; ++size) {
    ASSERT_LE(bin_of(size), bin_of(size + 1));
    ASSERT_LE(size, bin_limit(bin_of(size)));
    ASSERT_GT(size, bin_limit(Bin{number_of(bin_of(size)) - 1})) << size;
  }
}

TEST(SizeClass, TheIndexOfEveryBlockIsExact) {
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    const ClassGeometry& geometry = kGeometry.of[bin];
    for (std::uint32_t i = 0; i < geometry.block_count; ++i)
      ASSERT_EQ(index_of(geometry, i * geometry.stride), BlockIndex{i}) << geometry.block_bytes;
  }
}

// An address between two blocks must not be taken for one: index x stride is then not the offset.
TEST(SizeClass, NoOffsetBetweenBlocksLooksLikeABlock) {
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    const ClassGeometry& geometry = kGeometry.of[bin];
    for (std::uint32_t offset = 0; offset < bytes_of(geometry.slab_pages); offset += 8) {
      const bool looks_like_one = number_of(index_of(geometry, offset)) * geometry.stride == offset;
      ASSERT_EQ(looks_like_one, offset % geometry.stride == 0) << geometry.block_bytes << " at " << offset;
    }
  }
}

TEST(SizeClass, BlocksFitTheirSlabs) {
  for (unsigned bin = 1; bin < kBinCount; ++bin) {
    const ClassGeometry& geometry = kGeometry.of[bin];
    ASSERT_GE(geometry.block_count, 1u);
    ASSERT_LE(geometry.block_count * geometry.stride, bytes_of(geometry.slab_pages));
    ASSERT_GE(geometry.stride, geometry.block_bytes);
    ASSERT_GE(geometry.word_count * 64u, geometry.block_count);
  }
}

TEST(SizeClass, StridesOfPowerOfTwoSizesAreColoured) {
  for (const std::size_t size : {512u, 1024u, 2048u, 4096u, 8192u, 16384u})
    EXPECT_NE(kGeometry[kPresetClasses.of[0][bin_of(size)]].stride % 512, 0u) << size;
}

}  // namespace
}  // namespace tarn::internal
