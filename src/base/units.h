// The units of the library. page: this library's unit, 64 KiB (the MMU's unit is called OS page).
// chunk: 2 MiB, the size of a huge page, 32 pages.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal {

inline constexpr std::size_t kPageShift = 16;
inline constexpr std::size_t kPageBytes = std::size_t{1} << kPageShift;
inline constexpr std::size_t kChunkShift = 21;
inline constexpr std::size_t kChunkBytes = std::size_t{1} << kChunkShift;
inline constexpr std::uint32_t kPagesPerChunk = kChunkBytes / kPageBytes;
inline constexpr std::size_t kOsPageBytesLargest = 64 * 1024;  // the largest OS page of a supported kernel
inline constexpr std::size_t kCacheLineBytes = 64;
inline constexpr std::size_t kLargestRequest = std::size_t{1} << 46;  // of bytes, and of an alignment

constexpr std::uint32_t at_most(std::uint32_t limit, std::uint32_t value) {
  return value < limit ? value : limit;
}

/// A number of pages; neither bytes nor the index of a page converts to it.
enum class PageCount : std::uint32_t {};
constexpr std::uint32_t number_of(PageCount pages) { return static_cast<std::uint32_t>(pages); }
constexpr std::size_t bytes_of(PageCount pages) { return std::size_t{number_of(pages)} << kPageShift; }
/// \returns the least pages that hold `bytes`.
constexpr PageCount pages_for(std::size_t bytes) {
  return static_cast<PageCount>((bytes + kPageBytes - 1) >> kPageShift);
}
constexpr PageCount operator+(PageCount a, PageCount b) { return PageCount{number_of(a) + number_of(b)}; }
constexpr PageCount operator-(PageCount a, PageCount b) { return PageCount{number_of(a) - number_of(b)}; }
constexpr PageCount& operator+=(PageCount& a, PageCount b) { return a = a + b; }
constexpr PageCount& operator-=(PageCount& a, PageCount b) { return a = a - b; }

/// The index of a block in its span; no bytes, no class and no number of blocks converts to it.
enum class BlockIndex : std::uint32_t {};
constexpr std::uint32_t number_of(BlockIndex index) { return static_cast<std::uint32_t>(index); }
constexpr BlockIndex& operator++(BlockIndex& index) { return index = BlockIndex{number_of(index) + 1}; }

constexpr std::size_t round_up(std::size_t value, std::size_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}
constexpr bool is_power_of_two(std::size_t value) { return value != 0 && (value & (value - 1)) == 0; }
inline std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace tarn::internal
