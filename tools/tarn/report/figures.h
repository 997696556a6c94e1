// What contenders' runs of one workload came to, figure by figure: computed once, for the terminal, the JSON
// and the page alike.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/rounds/entry.h"
#include "system/figures/format.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {

/// How a figure stands among those of all contenders; kEqual is to the best, within the noise.
enum class Mark : std::uint8_t { kPlain, kBest, kEqual, kNone };

/// '*' for the best, '=' for its equal, else a blank.
char sign_of(Mark mark);
Style style_of(Mark mark);

/// Who took part.
struct Contender {
  Allocator allocator;
  std::optional<Failure> failure;
  std::size_t run_count;

  bool is_comparable() const { return !failure && run_count != 0; }
  /// Whether it is tarn, under some settings or by its pools.
  bool is_ours() const { return allocator.name.starts_with(kTarnName); }
};

/// One figure of every contender.
struct Figure {
  std::string key;  // in the JSON
  std::string title;
  Quantity quantity;
  Better better;
  std::vector<Summary> summaries = {};  // of each contender; count 0: it may not be compared

  /// The best median of the contenders that `counts` accepts; count 0 if none has one.
  template <class Counts>
  Summary best_among(const Counts& counts) const;
  Summary best() const;
  double largest() const;  // median
  Unit unit() const;       // in which that reads well
  Mark mark_of(std::size_t contender) const;
  /// How a median stands beside another. Of time it is speed, more is better: 0.5 is half as fast. Of
  /// anything else it is an amount, and less is better unless the figure says more.
  double ratio_of(double own, double other) const;
};

struct Figures {
  std::vector<Contender> contenders;
  std::vector<Figure> all = {};

  /// Who has that name and may be compared.
  std::optional<std::size_t> find_contender(const std::string& name) const;
  /// nullptr where the workload has no such figure.
  const Figure* find(const std::string& key) const;
};

template <class Run>
std::vector<Contender> contenders_of(const Entries<Run>& entries) {
  std::vector<Contender> contenders;
  for (const Entry<Run>& entry : entries)
    contenders.push_back({entry.allocator, entry.failure, entry.runs.size()});
  return contenders;
}

template <class Run>
Figures figures_of(const Entries<Run>& entries, const std::vector<Metric<Run>>& metrics) {
  Figures figures = {contenders_of(entries)};
  for (const Metric<Run>& metric : metrics) {
    Figure figure = {metric.key, metric.title, metric.quantity, metric.better};
    for (const Entry<Run>& entry : entries)
      figure.summaries.push_back(entry.is_comparable() ? entry.summary_of(metric) : Summary());
    figures.all.push_back(std::move(figure));
  }
  return figures;
}

template <class Counts>
Summary Figure::best_among(const Counts& counts) const {
  Summary best;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const double own = summaries[i].median;
    if (summaries[i].count == 0 || !counts(i)) continue;
    if (best.count == 0 || (better == Better::kLess ? own < best.median : own > best.median))
      best = summaries[i];
  }
  return best;
}

/// "FAILED jemalloc: exit status 3 (round 2)" and the last lines of its standard error. \param where stands
/// behind the name, with a blank
std::string failure_paragraph(const std::string& who, const Failure& failure, Colour colour,
                              const std::string& where = {});

/// A paragraph for each contender that failed, or a single one if all failed alike; empty if none did.
std::string failure_report(const std::vector<Contender>& contenders, Colour colour);

}  // namespace tarn::tool
