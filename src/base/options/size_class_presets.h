// The one table of presets: the sets of size classes that requests can round up to. It generates the choices
// and help of the option `classes`, the tables of central/classes/size_class.h, `tarn classes` and the tests.
//
// A row says which block sizes are classes. The table asks only about the largest size of each bin
// (tarn/detail/bins.h); the powers of two for large alignments are classes in every preset.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tarn::internal {

/// Whether a size is one of `steps` equal steps from one power of two to the next.
constexpr bool is_step_of_doubling(std::uint32_t bytes, std::uint32_t steps) {
  return bytes % (std::bit_floor(bytes - 1) / steps) == 0;
}

struct SizeClassPreset {
  const char* name;  // the choice of the option `classes`
  const char* help;  // describes the classes: a part of the option's help
  bool (*has_class)(std::uint32_t block_bytes);
};

inline constexpr SizeClassPreset kSizeClassPresets[] = {
    // 8; 16-byte steps to 1 KiB; then 8 per doubling; 2 above 32 KiB, where a block has whole pages of 64
    // KiB: more classes would share four sizes of them, and each would cache for itself.
    {"default", "tarn's own",
     [](std::uint32_t bytes) {
       return bytes <= 1024 || is_step_of_doubling(bytes, bytes <= 32 * 1024 ? 8 : 2);
     }},
    // 8; 16-byte steps to 512, 32 to 1 KiB, then 16 per doubling to 16 KiB: 113 of the 128 classes of
    // Windows' heap, which has 8-byte steps to 256. Blocks above 8 bytes need strides of n x 16.
    {"lfh128", "those of the Windows Low Fragmentation Heap but for steps of 16 instead of 8 bytes up to 256",
     [](std::uint32_t bytes) { return bytes <= 512 || bytes % 32 == 0; }},
    // 32-byte steps to 1 KiB, 128 to 2 KiB, 256 to 4 KiB
    {"stepped", "steps of 32/128/256 bytes",
     [](std::uint32_t bytes) { return bytes <= 1024 ? bytes % 32 == 0 : is_step_of_doubling(bytes, 8); }},
};
inline constexpr std::size_t kSizeClassPresetCount = sizeof(kSizeClassPresets) / sizeof(kSizeClassPresets[0]);

struct PresetText {
  char text[320];

  consteval std::size_t add(std::size_t at, const char* part) {
    for (; *part != '\0'; ++part) text[at++] = *part;
    return at;
  }
};

/// The names or helps of all presets in one text.
consteval PresetText join_presets(const char* const SizeClassPreset::*member, const char* start,
                                  const char* between, const char* before_last, const char* end) {
  PresetText joined{};
  std::size_t at = joined.add(0, start);
  for (std::size_t i = 0; i < kSizeClassPresetCount; ++i) {
    if (i > 0) at = joined.add(at, i + 1 < kSizeClassPresetCount ? between : before_last);
    at = joined.add(at, kSizeClassPresets[i].*member);
  }
  joined.add(at, end);
  return joined;
}

inline constexpr PresetText kSizeClassPresetNames = join_presets(&SizeClassPreset::name, "", "|", "|", "");
inline constexpr PresetText kSizeClassPresetHelp =
    join_presets(&SizeClassPreset::help, "Size classes that requests round up to: ", ", ", ", or ", ".");

}  // namespace tarn::internal
