// Medians, quartiles, ranks.
#include "tune/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tarn::tune {
namespace {

constexpr double kDeviations = 2.5;  // of the sum of ranks, under the normal curve

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double spread(const std::vector<double>& values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / 2;
}

/// As under the normal curve, where half the distance of the quartiles is 0.6745 standard deviations, and a
/// median strays by 1.2533 of these over the root of the count.
double error_of_median(const std::vector<double>& values) {
  return 1.2533 / 0.6745 * spread(values) / std::sqrt(static_cast<double>(values.size()));
}

/// Pairs in which the own value is not the lesser one.
double pairs_not_less(const std::vector<double>& own, const std::vector<double>& base) {
  double count = 0;
  for (const double value : own)
    count += static_cast<double>(
        std::count_if(base.begin(), base.end(), [value](double other) { return value >= other; }));
  return count;
}

}  // namespace

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

Share saving(const std::vector<double>& own, const std::vector<double>& base) {
  const double whole = median(base);
  if (whole == 0) return {};
  return {100 * (whole - median(own)) / whole, 100 * (spread(own) + spread(base)) / whole, 0};
}

Share price(const std::vector<double>& own, const std::vector<double>& base) {
  std::vector<double> percents;
  for (std::size_t i = 0; i < std::min(own.size(), base.size()); ++i)
    if (base[i] > 0) percents.push_back(100 * (own[i] / base[i] - 1));
  if (percents.empty()) return {};
  return {median(percents), spread(percents), error_of_median(percents)};
}

bool is_less(const std::vector<double>& own, const std::vector<double>& base) {
  const double pairs = static_cast<double>(own.size()) * static_cast<double>(base.size());
  const double deviation = std::sqrt(pairs * static_cast<double>(own.size() + base.size() + 1) / 12);
  return pairs / 2 - pairs_not_less(own, base) - 0.5 >= kDeviations * deviation;
}

}  // namespace tarn::tune
