// What all bots together have seen.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "../protocol.h"

namespace game {

/// Counts of durations in steps of an eighth of a doubling, so that a percentile is right within an eighth.
class Durations {
 public:
  void add(std::uint64_t microseconds) {
    ++counts_[index_of(microseconds)];
    ++total_;
  }
  std::uint64_t percentile(double fraction) const {
    const auto rank = static_cast<std::uint64_t>(fraction * static_cast<double>(total_));
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if ((passed += counts_[i]) > rank) return value_of(i);
    return 0;
  }

 private:
  static std::size_t index_of(std::uint64_t value) {
    if (value < 16) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 4;
    return std::min<std::size_t>(shift * 8 + (value >> shift), kSteps - 1);
  }
  static std::uint64_t value_of(std::size_t index) {
    return index < 16 ? index : ((index % 8) + 8) << (index / 8 - 1);
  }

  static constexpr std::size_t kSteps = 320;
  std::array<std::uint64_t, kSteps> counts_{};
  std::uint64_t total_ = 0;
};

struct Tally {
  std::uint64_t connects = 0;
  std::uint64_t connects_failed = 0;
  std::uint64_t lost = 0;  // connections that the server ended although the bot did nothing wrong
  std::uint64_t sent = 0;
  std::uint64_t answers = 0;
  std::uint64_t turns_lost = 0;  // bundles not sent, because the one before was not answered yet
  std::uint64_t broadcasts = 0;
  std::uint64_t bytes_received = 0;
  std::array<std::uint64_t, kRefusalCount + 1> refused{};
  Durations round_trips;  // of a bundle, microseconds
};

}  // namespace game
