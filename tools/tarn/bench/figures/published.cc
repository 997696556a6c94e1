// What a source published beside what is measured here.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/figures/bench_figures.h"

namespace tarn::tool {
namespace {

std::optional<std::size_t> find_contender(const BenchDocument& document, const char* name) {
  for (std::size_t i = 0; i < document.contenders.size(); ++i)
    if (document.contenders[i].name == name) return i;
  return std::nullopt;
}

/// "source-000, this design: 1.43 times as fast as vector (worst row 0.90). Beside source-000: tarn 1.90
/// (1.10), tarn-inline 2.51 (1.30)."
std::string design_line(const BenchDocument& document, const SourceInfo& source, std::size_t design,
                        const std::vector<const GroupSamples*>& groups) {
  const std::string& name = document.contenders[design].name;
  std::string text = name + ", this design";
  const std::optional<std::size_t> compared = find_contender(document, source.compared_with);
  const MeanRatio beside_compared = compared ? standing_beside(design, groups, *compared) : MeanRatio();
  if (beside_compared.count() != 0)
    text += fmt::format(": {:.2f} times as fast as {} (worst row {:.2f})", beside_compared.mean_speed(),
                        source.compared_with, beside_compared.worst_speed());
  std::string ours;
  for (std::size_t i = 0; i < document.contenders.size(); ++i) {
    if (!is_ours(document.contenders[i].kind)) continue;
    if (const MeanRatio standing = standing_beside(i, groups, design); standing.count() != 0)
      ours += fmt::format("{} {} {:.2f} ({:.2f})", ours.empty() ? "" : ",", document.contenders[i].name,
                          standing.mean_speed(), standing.worst_speed());
  }
  return text + (ours.empty() ? "." : fmt::format(". Beside {}:{}.", name, ours)) + "\n";
}

/// What a contender's rows of a published figure took, by block size.
std::map<std::size_t, double> times_of(const PublishedFigure& figure, const GroupSamples& group,
                                       std::size_t contender) {
  std::map<std::size_t, double> times;
  for (const RowSamples& samples : group.rows) {
    const bool is_meant =
        std::string(figure.series).find(" " + samples.row.series + " ") != std::string::npos;
    if (!is_meant || samples.row.is_cold || samples.row.threads != figure.threads) continue;
    if (samples.runs.count(contender) != 0)
      times[samples.row.bytes] += summary_of(samples, contender, kNanoseconds).median;
  }
  return times;
}

/// "source-000 12 to 40 %": the least and the most over the block sizes; empty without both contenders.
std::string measured_of(const BenchDocument& document, const PublishedFigure& figure,
                        const GroupSamples& group, std::size_t contender, std::size_t compared) {
  const std::map<std::size_t, double> own = times_of(figure, group, contender);
  std::vector<double> values;
  for (const auto& [bytes, other] : times_of(figure, group, compared))
    if (const auto same = own.find(bytes); same != own.end() && other > 0 && same->second > 0)
      values.push_back(figure.measure == Measure::kPercentLess ? 100 * (1 - same->second / other)
                                                               : other / same->second);
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const std::string& name = document.contenders[contender].name;
  if (figure.measure == Measure::kPercentLess)
    return fmt::format("{} {:.0f} to {:.0f} %", name, *least, *most);
  if (values.size() == 1) return fmt::format("{} {:.2f}", name, *least);
  return fmt::format("{} {:.2f} to {:.2f}", name, *least, *most);
}

/// "one thread: 20 to 62 % less time than vector published; here source-000 -3 to 35 %, tarn 51 to 80 %".
std::string published_line(const BenchDocument& document, const PublishedFigure& figure,
                           const std::vector<const GroupSamples*>& groups, std::size_t compared) {
  std::string measured;
  for (const GroupSamples* group : groups) {
    if (group->name != figure.group) continue;
    for (const std::size_t contender : contenders_in(rows_of({group}))) {
      const DocumentContender& one = document.contenders[contender];
      if (!is_ours(one.kind) && !one.name.starts_with("source-")) continue;
      if (const std::string value = measured_of(document, figure, *group, contender, compared);
          !value.empty())
        measured += (measured.empty() ? "" : ", ") + value;
    }
  }
  if (measured.empty()) return {};
  const char* const unit = figure.measure == Measure::kPercentLess ? "less time than" : "times as fast as";
  return fmt::format("{}: {} {} {} published; here {}\n", figure.what, figure.published, unit,
                     document.contenders[compared].name, measured);
}

}  // namespace

std::string words_on_designs(const BenchDocument& document, const SourceInfo& source) {
  if (source.compared_with == nullptr) return {};
  const std::vector<const GroupSamples*> groups = groups_of_source(document, source.id);
  const std::optional<std::size_t> compared = find_contender(document, source.compared_with);
  const std::string name = fmt::format("source-{}", source.id);
  std::string text;
  for (const std::size_t contender : contenders_in(rows_of(groups)))
    if (document.contenders[contender].name.starts_with(name))
      text += design_line(document, source, contender, groups);
  for (const PublishedFigure& figure : published_figures())
    if (compared && figure.source == std::string_view(source.id))
      text += published_line(document, figure, groups, *compared);
  return text;
}

}  // namespace tarn::tool
