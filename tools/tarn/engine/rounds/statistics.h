// What a handful of measurements of one thing say: the median, the quartiles, and whether two such sets
// differ by more than their own noise. Pure functions; the commands that measure (compare, later bench) share
// them.
//
// Noise is half the distance of the quartiles: a single disturbed round does not move it, as it would move
// the range.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace tarn::tool {

struct Summary {
  std::size_t count = 0;
  double minimum = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double maximum = 0;

  /// Half the distance of the quartiles, in the unit of the values.
  double spread() const { return (upper_quartile - lower_quartile) / 2; }
  /// The spread as a share of the median, in percent; 0 where the median is 0.
  double spread_percent() const { return median == 0 ? 0 : 100 * spread() / median; }
};

/// The value below which a share of the sorted values lies, interpolated between neighbours.
/// \pre `sorted` is ascending and not empty, 0 <= share <= 1
double quantile(const std::vector<double>& sorted, double share);

/// \returns a Summary with count 0 for no values.
Summary summarize(std::vector<double> values);

/// Whether a median is so close to the best one that another set of rounds might turn the two round.
/// \why half a percent is below what any program repeats; one round alone has no noise to be judged by
bool is_within_noise(const Summary& candidate, const Summary& best);

/// How one set of figures, of which less is better, stands beside another over many rows: the geometric mean
/// of the ratios, the worst of them, and whether the rows' noise alone could have made the mean.
class MeanRatio {
 public:
  /// \pre both medians are positive
  void add(const Summary& own, const Summary& other, const std::string& row = {});
  std::size_t count() const { return count_; }
  /// How many rows are less, or more, by more than their noise.
  std::size_t less() const { return less_; }
  std::size_t more() const { return more_; }
  /// Of own divided by other. \pre there are rows
  double mean() const;
  double worst() const { return worst_; }
  const std::string& worst_row() const { return worst_row_; }
  /// The same of times as speeds: more is better.
  double mean_speed() const { return 1 / mean(); }
  double worst_speed() const { return 1 / worst_; }
  bool is_within_noise() const;

 private:
  double logarithms_ = 0;  // of the ratios, summed
  double variance_ = 0;    // of that sum, by the rows' spreads
  std::size_t count_ = 0, less_ = 0, more_ = 0;
  double worst_ = 0;
  std::string worst_row_;
};

}  // namespace tarn::tool
