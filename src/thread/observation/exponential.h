// Numbers of an exponential distribution, and what a sample stands for, without the mathematics library.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tarn::internal {

/// \returns a number that is never 0, of two that follow `state` (G. Marsaglia, "Xorshift RNGs", 2003). \pre
/// state is not 0.
inline std::uint64_t next_random(std::uint32_t& state) {
  std::uint64_t number = 0;
  for (int half = 0; half < 2; ++half) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    number = number << 32 | state;
  }
  return number;
}

/// \returns -ln(x / 2^64), with a relative error below 0.1 %. \pre x is not 0.
inline double minus_log_of_fraction(std::uint64_t x) {
  constexpr double kLn2 = 0.6931471805599453;
  // x / 2^64 = m * 2^-(leading + 1), 1 <= m < 2. ln m by its series in (m - 1) / (m + 1).
  const int leading = std::countl_zero(x);
  const double m = static_cast<double>(x << leading) * 0x1p-63;
  const double t = (m - 1) / (m + 1), square = t * t;
  const double ln_m =
      2 * t * (1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9)))));
  return (leading + 1) * kLn2 - ln_m;
}

/// \returns e^-x, with a relative error below 0.1 % where x is below 700. \pre x >= 0.
inline double exponential_of_minus(double x) {
  constexpr double kFarthest = 700;
  if (x > kFarthest) return 0;
  // By halving until the series is short.
  int halvings = 0;
  for (; x > 0x1p-4; x /= 2) ++halvings;
  double power = 1 - x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
  for (; halvings > 0; --halvings) power *= power;
  return power;
}

/// \returns how many blocks a sample of `bytes` stands for where each `interval` bytes one is drawn.
inline double blocks_of_sample(std::size_t bytes, std::size_t interval) {
  if (interval <= 1) return 1;
  const double x = static_cast<double>(bytes == 0 ? 1 : bytes) / static_cast<double>(interval);
  // 1 - e^-x of a small x, without the difference of nearly equal numbers.
  const double chance = x < 0x1p-10 ? x * (1 - x / 2) : 1 - exponential_of_minus(x);
  return 1 / chance;
}

}  // namespace tarn::internal
