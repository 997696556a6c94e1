// The sizes at which something changes: steps of the size classes, and where one way of serving a request
// ends.
#pragma once
#include <cstddef>
#include <vector>

namespace tarn::test {

inline constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

/// Sizes around every boundary up to `largest`, ascending and distinct.
inline std::vector<std::size_t> boundary_sizes(std::size_t largest) {
  std::vector<std::size_t> sizes{0, 1};
  auto add = [&](std::size_t size) {
    if (size > sizes.back() && size <= largest) sizes.push_back(size);
  };
  for (std::size_t size = 2; size <= 32; ++size) add(size);
  for (std::size_t power = 64; power <= largest; power *= 2)
    for (std::size_t eighth = 0; eighth < 8; ++eighth)
      for (const std::size_t size :
           {power + eighth * power / 8 - 1, power + eighth * power / 8, power + eighth * power / 8 + 1})
        add(size);
  return sizes;
}

/// A few of them, for tests of every pair.
inline std::vector<std::size_t> landmark_sizes(std::size_t largest) {
  std::vector<std::size_t> sizes;
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{8}, std::size_t{9}, std::size_t{16}, std::size_t{100},
        kKiB,           kKiB + 1,       3 * kKiB,       16 * kKiB,       16 * kKiB + 1,
        64 * kKiB,      256 * kKiB - 1, 256 * kKiB,     256 * kKiB + 1,  kMiB,
        2 * kMiB - 1,   2 * kMiB,       2 * kMiB + 1,   5 * kMiB,        64 * kMiB})
    if (size <= largest) sizes.push_back(size);
  return sizes;
}

/// All that a page of blocks may have, and a few larger ones: for work that is done some hundred times.
inline std::vector<std::size_t> boundary_sizes_and_landmarks(std::size_t largest) {
  std::vector<std::size_t> sizes = boundary_sizes(2 * kKiB);
  for (const std::size_t size : landmark_sizes(largest))
    if (size > sizes.back()) sizes.push_back(size);
  return sizes;
}

}  // namespace tarn::test
