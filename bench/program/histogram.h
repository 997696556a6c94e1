// Counts of durations on a logarithmic scale: exact up to 63, then 32 steps per doubling, so that a
// percentile is right within about 3 % whatever its size. Lives in mapped memory or on the stack; allocates
// nothing.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace tarn::bench {

class Histogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[index_of(value)];
    largest_ = std::max(largest_, value);
    ++total_;
  }

  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    largest_ = std::max(largest_, other.largest_);
    total_ += other.total_;
  }

  /// The value that `fraction` of all values do not exceed (the lower edge of its step).
  std::uint64_t percentile(double fraction) const {
    const auto rank = static_cast<std::uint64_t>(fraction * static_cast<double>(total_));
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      passed += counts_[i];
      if (passed > rank) return value_of(i);
    }
    return largest_;
  }

  /// Whether enough values lie above it for the percentile to be more than another name of the maximum.
  bool tells(double fraction) const {
    return total_ - static_cast<std::uint64_t>(fraction * static_cast<double>(total_)) >= kLeastAbove;
  }

  std::uint64_t largest() const { return largest_; }
  std::uint64_t total() const { return total_; }

 private:
  static constexpr std::uint64_t kLeastAbove = 10;
  static constexpr unsigned kStepBits = 5;
  static constexpr std::uint64_t kSteps = 1u << kStepBits;
  static constexpr std::size_t kBuckets = (64 - kStepBits + 1) * kSteps;

  // A value of `shift` bits above the step bits falls into the bucket of its leading bits, `shift` doublings
  // up.
  static std::size_t index_of(std::uint64_t value) {
    if (value < 2 * kSteps) return value;
    const unsigned shift = 63u - static_cast<unsigned>(__builtin_clzll(value)) - kStepBits;
    return shift * kSteps + (value >> shift);
  }
  static std::uint64_t value_of(std::size_t index) {
    if (index < 2 * kSteps) return index;
    const std::size_t shift = index / kSteps - 1;
    return (index - shift * kSteps) << shift;
  }

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t largest_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace tarn::bench
