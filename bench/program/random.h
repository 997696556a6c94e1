// Random numbers with a fixed seed: every allocator gets the same requests.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::bench {

/// xorshift64*, Vigna 2016: small enough to sit between two allocations.
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
  std::size_t between(std::size_t first, std::size_t last) {
    return first + static_cast<std::size_t>(((next() >> 32) * (last - first + 1)) >> 32);
  }

  /// Uniform in (0, 1].
  double unit() { return (static_cast<double>(next() >> 11) + 1.0) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace tarn::bench
