// Samples to figures.
#include "bench/figures/bench_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace tarn::tool {
namespace {

constexpr const char* kRoundsMetric = "rounds";

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

/// The least figure above 0.
double least_of(const std::vector<RowEntry>& entries) {
  double least = std::numeric_limits<double>::infinity();
  for (const RowEntry& entry : entries)
    if (entry.own.median > 0) least = std::min(least, entry.own.median);
  return least;
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
MeanRatio standing_among(std::size_t contender, const std::vector<const GroupSamples*>& groups,
                         IsRival is_rival) {
  MeanRatio standing;
  for (const GroupSamples* group : groups)
    for (const RowSamples& samples : group->rows) {
      if (samples.row.metric != kNanoseconds) continue;
      const Pair pair = pair_in(samples, contender, is_rival);
      if (pair.own.count != 0 && pair.best_rival.count != 0)
        standing.add(pair.own, pair.best_rival, group->name + " " + samples.row.name);
    }
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
    if (own.count != 0) entries.push_back({contender, own, 0, Mark::kPlain});
  }
  const auto best =
      std::min_element(entries.begin(), entries.end(),
                       [](const RowEntry& a, const RowEntry& b) { return a.own.median < b.own.median; });
  const double least = least_of(entries);
  for (RowEntry& entry : entries) {
    if (entry.own.median > 0) entry.times_the_best = entry.own.median / least;
    if (is_within_noise(entry.own, best->own)) entry.mark = Mark::kEqual;
  }
  if (best != entries.end()) best->mark = Mark::kBest;
  return entries;
}

std::optional<double> geometric_mean(const std::vector<double>& ratios) {
  if (ratios.empty()) return std::nullopt;
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

std::vector<Mean> means_of(const std::vector<std::vector<RowEntry>>& rows) {
  std::map<std::size_t, std::vector<double>> ratios;
  for (const std::vector<RowEntry>& entries : rows)
    for (const RowEntry& entry : entries)
      if (entry.times_the_best > 0) ratios[entry.contender].push_back(entry.times_the_best);
  std::size_t most = 0;
  for (const auto& [contender, own] : ratios) most = std::max(most, own.size());
  std::vector<Mean> means;
  for (const auto& [contender, own] : ratios)
    means.push_back({contender, *geometric_mean(own), own.size(), own.size() < most});
  double best = std::numeric_limits<double>::infinity();
  for (const Mean& mean : means)
    if (!mean.is_partial) best = std::min(best, mean.times_the_best);
  for (Mean& mean : means) mean.is_best = !mean.is_partial && mean.times_the_best == best;
  return means;
}

std::vector<Mean> means_of(const std::vector<const RowSamples*>& rows, const std::string& metric) {
  std::vector<std::vector<RowEntry>> entries;
  for (const RowSamples* row : rows)
    entries.push_back(entries_of(*row, metric.empty() ? row->row.metric : metric));
  return means_of(entries);
}

std::vector<const RowSamples*> rows_of(const std::vector<const GroupSamples*>& groups) {
  std::vector<const RowSamples*> rows;
  for (const GroupSamples* group : groups)
    for (const RowSamples& samples : group->rows)
      if (!entries_of(samples).empty()) rows.push_back(&samples);
  return rows;
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

std::string words_on(const MeanRatio& standing, const std::string& rival) {
  return standing.is_within_noise() ? fmt::format("as fast as {} within the noise", rival)
                                    : fmt::format("{:.2f} times as fast as {}", standing.mean_speed(), rival);
}

MeanRatio standing_of(const BenchDocument& document, std::size_t contender,
                      const std::vector<const GroupSamples*>& groups) {
  return standing_among(contender, groups, [&](std::size_t other) {
    return are_rivals(document.contenders[contender], document.contenders[other]);
  });
}

MeanRatio standing_beside(std::size_t contender, const std::vector<const GroupSamples*>& groups,
                          std::size_t other) {
  return standing_among(contender, groups, [other](std::size_t rival) { return rival == other; });
}

std::vector<std::size_t> contenders_in(const std::vector<const RowSamples*>& rows) {
  std::set<std::size_t> found;
  for (const RowSamples* row : rows)
    for (const RowEntry& entry : entries_of(*row)) found.insert(entry.contender);
  return {found.begin(), found.end()};
}

std::vector<RoundsOfRow> rows_of_few_rounds(const BenchDocument& document, std::uint64_t most) {
  std::vector<RoundsOfRow> found;
  for (const GroupSamples& group : document.results.groups)
    for (const RowSamples& samples : group.rows) {
      if (samples.row.is_cold) continue;
      for (const auto& [contender, runs] : samples.runs) {
        const Summary rounds = summary_of(samples, contender, kRoundsMetric);
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
