// bin: a step of request sizes. Bins up to 1 KiB are 16 bytes wide, so a request's bin is the request rounded
// up, divided by 16. Above 1 KiB there are 16 bins per doubling, then 8.
//
// A table (central/classes/size_class.h) chooses which size class serves a bin. A class is named by the
// largest bin it serves, or one near it where a table is finer than bins; heaps name blocks above 32 KiB by
// their bins in any table; the classes of pools (object_pool.h) have the numbers behind.
//
// Threads: the tables are written once, before the first block is handed out.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

inline constexpr std::size_t kSmallLimit = 1024;         // bytes; above it the bin is computed
inline constexpr std::size_t kMediumLimit = 256 * 1024;  // bytes; above it a block has its own span
inline constexpr std::size_t kTinyLimit = 8;             // bytes; the only blocks aligned to 8 bytes
inline constexpr unsigned kFirstMediumBin = 65;          // 1024 < size <= 16 KiB: 16 bins per doubling
inline constexpr unsigned kFirstCoarseBin = 129;         // 16 KiB < size <= 256 KiB: 8 bins per doubling
inline constexpr unsigned kTinyBin = 161;                // size <= 8
// Powers of two whose stride is the size: 128 B .. 32 KiB.
inline constexpr unsigned kFirstAlignedBin = 162;
inline constexpr unsigned kAlignedBinCount = 9;
inline constexpr unsigned kBinCount = kFirstAlignedBin + kAlignedBinCount;
inline constexpr unsigned kFirstPoolClass = kBinCount + 2;  // a thread's cache has more in between
inline constexpr unsigned kMostClasses = kIsHardened ? 16384 : 32768;

/// A bin, by its number.
enum class Bin : unsigned {};
constexpr unsigned number_of(Bin bin) { return static_cast<unsigned>(bin); }

/// A size class, by the number of the largest bin it serves, or the number behind all bins that its pool has.
enum class SizeClass : std::uint16_t { kNone = 0 };
constexpr unsigned index_of_class(SizeClass size_class) { return static_cast<unsigned>(size_class); }
constexpr SizeClass class_of_index(unsigned index) { return static_cast<SizeClass>(index); }

/// Where the record of a class lies in a thread's cache: bytes, divided by eight. \why: so 16 bits name any
/// record, and an instruction that uses it multiplies at no cost.
enum class RecordPlace : std::size_t { kNone = 0 };
constexpr std::size_t number_of(RecordPlace place) { return static_cast<std::size_t>(place); }

/// A class that serves bins, in a byte.
enum class BinClass : std::uint8_t { kNone = 0 };
static_assert(kBinCount <= 256);
constexpr SizeClass class_of(BinClass bin_class) { return static_cast<SizeClass>(bin_class); }
constexpr BinClass bin_class_of_index(unsigned index) { return static_cast<BinClass>(index); }

/// Bin of a request with 1024 < size <= 256 KiB.
constexpr Bin medium_bin_of(std::size_t size) {
  const unsigned exponent = 63u - leading_zeros(size - 1);  // 2^exponent <= size - 1
  if (size > 16384)
    return Bin{kFirstCoarseBin + (exponent - 14) * 8 +
               (static_cast<unsigned>((size - 1) >> (exponent - 3)) & 7u)};
  return Bin{kFirstMediumBin + (exponent - 10) * 16 +
             (static_cast<unsigned>((size - 1) >> (exponent - 4)) & 15u)};
}

/// Bin of any request up to 256 KiB.
constexpr Bin bin_of(std::size_t size) {
  if (size <= kTinyLimit) return Bin{kTinyBin};
  if (size <= kSmallLimit) return Bin{static_cast<unsigned>((size + 15) >> 4)};
  return medium_bin_of(size);
}

/// The size class that serves each bin: the bin's own, or a larger one where the table of size classes is
/// coarser.
struct ClassOfBin {
  BinClass of[kBinCount];
  constexpr SizeClass operator[](Bin bin) const { return class_of(of[number_of(bin)]); }
};
TARN_API extern ClassOfBin class_of_bin;

/// The same in steps of 64 bytes up to 16 KiB, so that a hit of these sizes finds its record with one
/// load. Above 1 KiB it is finer than bins: of several classes in a bin, class_of_bin has the largest.
inline constexpr std::size_t kSteppedLimit = 16384;
struct ClassOfStep {
  BinClass of[kSteppedLimit / 64 + 1];
  constexpr SizeClass operator[](std::size_t step) const { return class_of(of[step]); }
};
TARN_API extern ClassOfStep class_of_step;

}  // namespace TARN_NAMESPACE::detail
