// Bars, a table and a sentence of summaries.
#include "page/allocator_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "system/figures/format.h"

namespace tarn::tool {
namespace {

constexpr const char* kNamesOfOurs = "tarn";  // what they begin with
constexpr const char* kNameOfSystem = "glibc";

std::string name_of(const Json& allocator) { return allocator.at("name").get<std::string>(); }

double median_of(const Json& allocator, const SummaryFigure& figure) {
  return allocator.at("summary").at(figure.key).at("median").get<double>();
}

Spread spread_of(const Json& allocator, const SummaryFigure& figure) {
  const Json& summary = allocator.at("summary").at(figure.key);
  return {summary.at("median").get<double>(), summary.at("lower_quartile").get<double>(),
          summary.at("upper_quartile").get<double>()};
}

const Json* find(const std::vector<Json>& allocators, const std::string& name) {
  for (const Json& allocator : allocators)
    if (name_of(allocator) == name) return &allocator;
  return nullptr;
}

const Json& best_of(const std::vector<Json>& allocators, const SummaryFigure& figure) {
  return *std::min_element(allocators.begin(), allocators.end(), [&](const Json& a, const Json& b) {
    const double first = median_of(a, figure), second = median_of(b, figure);
    return figure.is_more_better ? second < first : first < second;
  });
}

std::string text_of(double value, const SummaryFigure& figure) {
  const std::string unit = figure.unit;
  if (unit == "bytes") return format_bytes(value);
  return unit == "s" ? format_seconds(value) : format_count(static_cast<std::uint64_t>(value));
}

bool is_equal_in_noise(const Json& own, const Json& other, const SummaryFigure& figure) {
  return is_within_noise(summary_in(own, figure.key), summary_in(other, figure.key));
}

/// "is 1.10 times as fast as glibc"
std::string words_on_speed(const Json& own, const Json& system, const SummaryFigure& time) {
  if (is_equal_in_noise(own, system, time))
    return fmt::format("is as fast as {} within the noise", name_of(system));
  return fmt::format("is {:.2f} times as fast as {}", median_of(system, time) / median_of(own, time),
                     name_of(system));
}

/// "has 0.95 times its peak RSS"
std::string words_on_amount(const Json& own, const Json& system, const SummaryFigure& memory) {
  if (is_equal_in_noise(own, system, memory))
    return fmt::format("has the same {} within the noise", memory.title);
  return fmt::format("has {:.2f} times its {}", median_of(own, memory) / median_of(system, memory),
                     memory.title);
}

void sort_by_length(Bars& bars) {
  std::stable_sort(bars.bars.begin(), bars.bars.end(),
                   [](const Bars::Bar& a, const Bars::Bar& b) { return a.length.value < b.length.value; });
}

/// A figure of which more is better, turned round. \why all drawings point one way: less is better
Bars inverted_bars(const std::vector<Json>& allocators, const SummaryFigure& figure) {
  const Json* const system = find(allocators, kNameOfSystem);
  const Json& base = system == nullptr ? best_of(allocators, figure) : *system;
  const double value = median_of(base, figure);
  Bars bars = {
      figure.title,
      {},
      {fmt::format("{} of {}, divided by the own; less is better", figure.title, name_of(base)), "×"},
      {},
      1.0};
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    const Spread own = spread_of(allocators[i], figure);
    if (own.low <= 0) continue;
    bars.bars.push_back(
        {i, {value / own.value, value / own.high, value / own.low}, text_of(own.value, figure)});
  }
  sort_by_length(bars);
  return bars;
}

PageCell cell_of(const Json& allocator, const SummaryFigure& figure, const Json& best) {
  const Json& own = allocator.at("summary").at(figure.key);
  const double median = own.at("median").get<double>();
  const bool is_best = median == median_of(best, figure);
  const bool is_equal = own.value("equal_to_best", false);
  const Mark mark = is_best ? Mark::kBest : is_equal ? Mark::kEqual : Mark::kPlain;
  PageCell cell = {text_of(median, figure) + (is_best ? " *" : is_equal ? " =" : ""), mark};
  if (allocator.at("runs").size() > 1)
    cell.small = fmt::format("±{:.1f} %", own.at("spread_percent").get<double>());
  return cell;
}

/// " Less is better, but of rate more."
std::string words_on_better(const std::vector<SummaryFigure>& figures) {
  std::vector<std::string> others;
  for (const SummaryFigure& figure : figures)
    if (figure.is_more_better) others.push_back(figure.title);
  return others.empty() ? " Less is better."
                        : fmt::format(" Less is better, but of {} more.", fmt::join(others, " and "));
}

std::vector<PageFailure> failures_of(const Json& results) {
  std::vector<PageFailure> failures;
  for (const Json& allocator : results.at("allocators")) {
    const Json& failure = allocator.at("failure");
    if (failure.is_null()) continue;
    failures.push_back(
        {name_of(allocator),
         fmt::format("{} ({})", failure.at("what").get<std::string>(), failure.at("when").get<std::string>()),
         failure.at("last_error_lines").get<std::vector<std::string>>()});
  }
  return failures;
}

std::size_t most_runs(const std::vector<Json>& allocators) {
  std::size_t most = 0;
  for (const Json& allocator : allocators) most = std::max(most, allocator.at("runs").size());
  return most;
}

}  // namespace

bool is_named_as_ours(const std::string& contender) { return contender.starts_with(kNamesOfOurs); }

Json middle_run(const Json& allocator, const std::string& key) {
  std::vector<Json> runs = allocator.at("runs").get<std::vector<Json>>();
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>((runs.size() - 1) / 2);
  std::nth_element(runs.begin(), middle, runs.end(),
                   [&](const Json& a, const Json& b) { return a.at(key) < b.at(key); });
  return *middle;
}

std::vector<Json> compared_allocators(const Json& results) {
  std::vector<Json> found;
  for (const Json& allocator : results.at("allocators"))
    if (!allocator.at("summary").is_null() && !allocator.at("runs").empty()) found.push_back(allocator);
  return found;
}

PageDocument page_of_allocators(const Json& results, const std::string& title) {
  PageDocument page = {.title = title, .sentence = {}};
  const std::vector<Json> allocators = compared_allocators(results);
  for (const Json& allocator : allocators) {
    const Json& library = allocator.at("library");
    page.contenders.push_back({name_of(allocator),
                               is_named_as_ours(name_of(allocator)) ? Side::kOurs : Side::kOthers, "",
                               library.is_null() ? "" : library.get<std::string>()});
  }
  if (results.at("interrupted").get<bool>())
    page.warnings.emplace_back("The run was interrupted: there are fewer rounds than were asked for.");
  if (allocators.empty()) page.warnings.emplace_back("There are no results.");
  const std::size_t rounds = most_runs(allocators);
  page.about = {words_on_machine(results.at("machine")),
                fmt::format("{} round{}, {}, tarn {}. Figures are medians; thin lines span the quartiles.",
                            rounds, rounds == 1 ? "" : "s, interleaved",
                            results.at("date").get<std::string>(), results.at("tarn").get<std::string>())};
  page.failures = failures_of(results);
  return page;
}

Bars figure_bars(const Json& results, const SummaryFigure& figure) {
  const std::vector<Json> allocators = compared_allocators(results);
  if (figure.is_more_better) return inverted_bars(allocators, figure);
  Bars bars = {figure.title, {}, {fmt::format("{}; less is better", figure.title), figure.unit}, {}};
  for (std::size_t i = 0; i < allocators.size(); ++i)
    bars.bars.push_back({i, spread_of(allocators[i], figure)});
  sort_by_length(bars);
  return bars;
}

PageTable summary_table(const Json& results, const std::vector<SummaryFigure>& figures) {
  PageTable table = {
      "All figures",
      "Medians; ± half the distance between the quartiles; * best, = equal to the best within the noise." +
          words_on_better(figures),
      {},
      {{"allocator"}},
      {}};
  const std::vector<Json> allocators = compared_allocators(results);
  for (const SummaryFigure& figure : figures) table.heads.push_back({figure.title});
  for (std::size_t i = 0; i < allocators.size(); ++i) {
    PageTable::Row row = {{{name_of(allocators[i])}}, i};
    for (const SummaryFigure& figure : figures)
      row.cells.push_back(cell_of(allocators[i], figure, best_of(allocators, figure)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string words_on_allocators(const Json& results, const SummaryFigure& time, const SummaryFigure& memory) {
  const std::vector<Json> allocators = compared_allocators(results);
  const Json* const system = find(allocators, kNameOfSystem);
  if (system == nullptr || median_of(*system, memory) <= 0) return {};
  const Json& best = best_of(allocators, time);
  std::vector<std::string> sentences;
  for (const Json& own : allocators) {
    if (!is_named_as_ours(name_of(own)) || median_of(own, time) <= 0) continue;
    std::string beside;
    if (!is_named_as_ours(name_of(best)) && &best != system && !is_equal_in_noise(own, best, time) &&
        median_of(best, time) > 0)
      beside = fmt::format(" (the best, {}: {:.2f})", name_of(best),
                           median_of(*system, time) / median_of(best, time));
    sentences.push_back(fmt::format("{} {}{} and {}.", name_of(own), words_on_speed(own, *system, time),
                                    beside, words_on_amount(own, *system, memory)));
  }
  if (!sentences.empty() && most_runs(allocators) < 2) sentences.emplace_back("One round tells no noise.");
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace tarn::tool
