// Random numbers with a fixed seed: every run has the same bots and the same rooms.
#pragma once
#include <cstdint>

namespace game {

/// xorshift64*, Vigna 2016.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }

  /// Uniform in [first, last].
  int between(int first, int last) {
    const auto count = static_cast<std::uint64_t>(last - first) + 1;
    return first + static_cast<int>(((next() >> 32) * count) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace game
