// Samples to figures.
#include "bench/figures/bench_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/rows/catalogue.h"

namespace tarn::tool {
namespace {

constexpr const char* kRounds = "rounds";

std::optional<double> value_of(const Json& run, const std::string& metric) {
  const auto found = run.find(metric);
  if (found == run.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::vector<double> values_of(const std::vector<Json>& runs, const std::string& metric) {
  std::vector<double> values;
  for (const Json& run : runs)
    if (const auto value = value_of(run, metric)) values.push_back(*value);
  return values;
}

/// Count 0: the row lacks it.
struct Pair {
  Summary own, best_rival;
};

template <class IsRival>
Pair pair_in(const RowSamples& samples, std::size_t contender, IsRival is_rival) {
  Pair pair;
  for (const RowEntry& entry : entries_of(samples)) {
    if (entry.own.median <= 0) continue;
    if (entry.contender == contender) pair.own = entry.own;
    if (is_rival(entry.contender) &&
        (pair.best_rival.count == 0 || entry.own.median < pair.best_rival.median))
      pair.best_rival = entry.own;
  }
  return pair;
}

template <class IsRival>
std::optional<Standing> standing_among(std::size_t contender, const std::vector<const GroupSamples*>& groups,
                                       IsRival is_rival) {
  MeanRatio time;
  Standing standing = {0, std::numeric_limits<double>::infinity(), "", 0, false};
  for (const GroupSamples* group : groups) {
    for (const RowSamples& samples : group->rows) {
      if (samples.row.metric != kNanoseconds) continue;
      const Pair pair = pair_in(samples, contender, is_rival);
      if (pair.own.count == 0 || pair.best_rival.count == 0) continue;
      time.add(pair.own, pair.best_rival);
      const double speed = pair.best_rival.median / pair.own.median;
      if (speed >= standing.worst) continue;
      standing.worst = speed;
      standing.worst_row = group->name + " " + samples.row.name;
    }
  }
  if (time.count() == 0) return std::nullopt;
  standing.mean = 1 / time.mean();
  standing.row_count = time.count();
  standing.is_within_noise = time.is_within_noise();
  return standing;
}

}  // namespace

Summary summary_of(const RowSamples& samples, std::size_t contender, const std::string& metric) {
  return summarize(values_of(samples.runs.at(contender), metric));
}

std::vector<RowEntry> entries_of(const RowSamples& samples, const std::string& metric) {
  std::vector<RowEntry> entries;
  for (const auto& [contender, runs] : samples.runs) {
    const Summary own = summary_of(samples, contender, metric);
    if (own.count != 0) entries.push_back({contender, own, 1, false, false});
  }
  const auto best =
      std::min_element(entries.begin(), entries.end(),
                       [](const RowEntry& a, const RowEntry& b) { return a.own.median < b.own.median; });
  if (best == entries.end()) return entries;
  best->is_best = true;
  const Summary of_best = best->own;
  for (RowEntry& entry : entries) {
    if (of_best.median > 0)
      entry.ratio =
          metric == kNanoseconds ? of_best.median / entry.own.median : entry.own.median / of_best.median;
    entry.is_equal = is_within_noise(entry.own, of_best);
  }
  return entries;
}

std::optional<double> geometric_mean(const std::vector<double>& ratios) {
  if (ratios.empty()) return std::nullopt;
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

std::vector<double> ratios_in(const GroupSamples& group, std::size_t contender, const std::string& metric) {
  std::vector<double> ratios;
  for (const RowSamples& samples : group.rows)
    for (const RowEntry& entry : entries_of(samples, metric.empty() ? samples.row.metric : metric))
      if (entry.contender == contender && entry.ratio > 0) ratios.push_back(entry.ratio);
  return ratios;
}

bool are_rivals(const DocumentContender& own, const DocumentContender& other) {
  switch (other.kind) {
    case ContenderKind::kSystem:
    case ContenderKind::kGeneral:
      return true;
    case ContenderKind::kInline:
      return own.kind == ContenderKind::kTarnInline || own.kind == ContenderKind::kTarnPool;
    case ContenderKind::kPool:
      return own.kind == ContenderKind::kTarnPool && own.is_synchronised == other.is_synchronised;
    default:
      return false;
  }
}

std::string words_on(const Standing& standing, const std::string& rival) {
  return standing.is_within_noise ? fmt::format("as fast as {} within the noise", rival)
                                  : fmt::format("{:.2f} times as fast as {}", standing.mean, rival);
}

std::optional<Standing> standing_of(const BenchDocument& document, std::size_t contender,
                                    const std::vector<const GroupSamples*>& groups) {
  return standing_among(contender, groups, [&](std::size_t other) {
    return are_rivals(document.contenders[contender], document.contenders[other]);
  });
}

std::optional<Standing> standing_beside(std::size_t contender, const std::vector<const GroupSamples*>& groups,
                                        std::size_t other) {
  return standing_among(contender, groups, [other](std::size_t rival) { return rival == other; });
}

std::vector<std::size_t> contenders_in(const BenchDocument& document,
                                       const std::vector<const GroupSamples*>& groups) {
  std::vector<std::size_t> found;
  for (std::size_t contender = 0; contender < document.contenders.size(); ++contender)
    if (std::any_of(groups.begin(), groups.end(), [&](const GroupSamples* group) {
          return std::any_of(group->rows.begin(), group->rows.end(),
                             [&](const RowSamples& samples) { return samples.runs.count(contender) != 0; });
        }))
      found.push_back(contender);
  return found;
}

std::vector<RoundsOfRow> rows_of_few_rounds(const BenchDocument& document, std::uint64_t most) {
  std::vector<RoundsOfRow> found;
  for (const GroupSamples& group : document.results.groups)
    for (const RowSamples& samples : group.rows) {
      if (samples.row.is_cold) continue;
      for (const auto& [contender, runs] : samples.runs) {
        const Summary rounds = summary_of(samples, contender, kRounds);
        if (rounds.count == 0 || rounds.minimum > static_cast<double>(most)) continue;
        found.push_back(
            {static_cast<std::uint64_t>(rounds.minimum),
             fmt::format("{} {}, {}", group.name, samples.row.name, document.contenders[contender].name)});
      }
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const RoundsOfRow& a, const RoundsOfRow& b) { return a.least < b.least; });
  return found;
}

std::vector<const GroupSamples*> groups_of_source(const BenchDocument& document, const std::string& source) {
  std::vector<const GroupSamples*> groups;
  for (const GroupSamples& group : document.results.groups)
    if (source_of(*find_group(group.name)).id == source) groups.push_back(&group);
  return groups;
}

}  // namespace tarn::tool
