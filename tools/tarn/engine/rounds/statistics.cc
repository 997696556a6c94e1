// Medians, quartiles and noise.
#include "engine/rounds/statistics.h"

#include <algorithm>
#include <cmath>

namespace tarn::tool {
namespace {

constexpr double kSmallestDifference = 0.005;

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {.count = values.size(),
          .minimum = values.front(),
          .lower_quartile = quantile(values, 0.25),
          .median = quantile(values, 0.5),
          .upper_quartile = quantile(values, 0.75),
          .maximum = values.back()};
}

bool is_within_noise(const Summary& candidate, const Summary& best) {
  if (candidate.count < 2 || best.count < 2) return candidate.median == best.median;
  const double difference = std::abs(candidate.median - best.median);
  return difference <= std::max(candidate.spread() + best.spread(), kSmallestDifference * best.median);
}

void MeanRatio::add(const Summary& own, const Summary& other, const std::string& row) {
  const double ratio = own.median / other.median;
  const double noise = (own.spread_percent() + other.spread_percent()) / 100;
  logarithms_ += std::log(ratio);
  variance_ += noise * noise;
  ++count_;
  if (!tool::is_within_noise(own, other)) ++(own.median < other.median ? less_ : more_);
  if (ratio <= worst_) return;
  worst_ = ratio;
  worst_row_ = row;
}

double MeanRatio::mean() const { return std::exp(logarithms_ / static_cast<double>(count_)); }

bool MeanRatio::is_within_noise() const {
  return std::abs(logarithms_) <=
         std::max(std::sqrt(variance_), kSmallestDifference * static_cast<double>(count_));
}

}  // namespace tarn::tool
