// Bars, a table and a sentence of summaries.
#include "page/allocator_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "observer/text/printable.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

std::string value_text(double value, const Figure& figure) {
  if (figure.quantity == Quantity::kBytes) return format_bytes(value);
  return figure.quantity == Quantity::kSeconds ? format_seconds(value)
                                               : format_count(static_cast<std::uint64_t>(value));
}

/// "is 1.10 times as fast as glibc"
std::string words_on_speed(const Summary& own, const Summary& system) {
  if (is_within_noise(own, system)) return fmt::format("is as fast as {} within the noise", kSystemName);
  return fmt::format("is {:.2f} times as fast as {}", system.median / own.median, kSystemName);
}

/// " (the best, jemalloc: 1.30)"; empty where the best is ours, the system's, or no better than the own.
std::string words_on_best(const Figures& figures, const Figure& time, const Summary& own,
                          const Summary& system) {
  const Summary best = time.best();
  const auto at = std::find_if(time.summaries.begin(), time.summaries.end(),
                               [&](const Summary& one) { return one.median == best.median; });
  const Contender& contender = figures.contenders[static_cast<std::size_t>(at - time.summaries.begin())];
  if (contender.is_ours() || contender.allocator.name == kSystemName || is_within_noise(own, best) ||
      best.median <= 0)
    return {};
  return fmt::format(" (the best, {}: {:.2f})", contender.allocator.name, system.median / best.median);
}

/// "has 0.95 times its peak RSS"
std::string words_on_amount(const Figure& memory, const Summary& own, const Summary& system) {
  if (is_within_noise(own, system)) return fmt::format("has the same {} within the noise", memory.title);
  return fmt::format("has {:.2f} times its {}", own.median / system.median, memory.title);
}

/// The places of the contenders by their medians, the best first.
std::vector<std::size_t> order_of(const Figure& figure) {
  std::vector<std::size_t> order(figure.summaries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double first = figure.summaries[a].median, second = figure.summaries[b].median;
    return figure.better == Better::kMore ? second < first : first < second;
  });
  return order;
}

/// A figure of which more is better, turned round. \why all drawings point one way: less is better
Json inverted_bars(const Figures& figures, const Figure& figure) {
  const std::size_t base = figures.find_contender(kSystemName).value_or(order_of(figure).front());
  const double value = figure.summaries[base].median;
  Json bars = bars_part(figure.title, {},
                        page_axis(fmt::format("{} of {}, divided by the own; less is better", figure.title,
                                              figures.contenders[base].allocator.name),
                                  "×"),
                        1.0);
  for (const std::size_t i : order_of(figure)) {
    const Summary& own = figure.summaries[i];
    if (own.lower_quartile <= 0) continue;
    add_bar(bars, i,
            {.lower_quartile = value / own.upper_quartile,
             .median = value / own.median,
             .upper_quartile = value / own.lower_quartile},
            value_text(own.median, figure));
  }
  return bars;
}

Json cell_of(const Figure& figure, std::size_t contender) {
  const Summary& own = figure.summaries[contender];
  const Mark mark = figure.mark_of(contender);
  std::string text = value_text(own.median, figure);
  if (mark != Mark::kPlain) text += fmt::format(" {}", sign_of(mark));
  return page_cell(text, mark,
                   {{"small", own.count > 1 ? fmt::format("±{:.1f} %", own.spread_percent()) : ""}});
}

/// " Less is better, but of rate more."
std::string words_on_better(const Figures& figures) {
  std::vector<std::string> others;
  for (const Figure& figure : figures.all)
    if (figure.better == Better::kMore) others.push_back(figure.title);
  return others.empty() ? " Less is better."
                        : fmt::format(" Less is better, but of {} more.", fmt::join(others, " and "));
}

std::size_t most_runs(const std::vector<Contender>& contenders) {
  std::size_t most = 0;
  for (const Contender& one : contenders)
    if (one.is_comparable()) most = std::max(most, one.run_count);
  return most;
}

}  // namespace

Side side_of(const Contender& contender) { return contender.is_ours() ? Side::kOurs : Side::kOthers; }

Json page_of_run(const std::string& title, const Json& header, int interrupted_by) {
  Json page = empty_page(title);
  page["about"].push_back(words_on_machine(header.at("machine")));
  if (interrupted_by != 0)
    page["warnings"].push_back("The run was interrupted: there are fewer rounds than were asked for.");
  return page;
}

Json page_of_allocators(const std::string& title, const Json& header, const std::vector<Contender>& all,
                        int interrupted_by) {
  Json page = page_of_run(title, header, interrupted_by);
  for (const Contender& one : all) {
    const auto& [allocator, failure, run_count] = one;
    if (one.is_comparable())
      page["contenders"].push_back(page_contender(allocator.name, side_of(one), "", allocator.library));
    if (failure)
      page["failures"].push_back(page_failure(
          allocator.name, fmt::format("{} ({})", failure->what, failure->when), failure->error_lines));
  }
  if (page["contenders"].empty()) page["warnings"].push_back("There are no results.");
  const std::size_t rounds = most_runs(all);
  page["about"].push_back(
      fmt::format("{} round{}, {}, tarn {}. Figures are medians; thin lines span the quartiles.", rounds,
                  rounds == 1 ? "" : "s, interleaved", header.at("date").get<std::string>(),
                  header.at("library").get<std::string>()));
  return page;
}

std::string command_in_title(const std::vector<std::string>& command) {
  constexpr std::size_t kColumns = 60;
  return observer::with_end_cut(format_command(command), kColumns);
}

Json figure_bars(const Figures& figures, const Figure& figure) {
  if (figure.better == Better::kMore) return inverted_bars(figures, figure);
  Json bars = bars_part(figure.title, {}, page_axis("less is better", unit_of(figure.quantity)));
  for (const std::size_t i : order_of(figure)) add_bar(bars, i, figure.summaries[i]);
  return bars;
}

Json summary_table(const Figures& figures) {
  Json heads = Json::array({"allocator"});
  for (const Figure& figure : figures.all) heads.push_back(figure.title);
  Json table = table_part(
      "All figures",
      "Medians; ± half the distance between the quartiles; * best, = equal to the best within the noise." +
          words_on_better(figures),
      std::move(heads));
  for (std::size_t i = 0; i < figures.contenders.size(); ++i) {
    Json cells = Json::array({figures.contenders[i].allocator.name});
    for (const Figure& figure : figures.all) cells.push_back(cell_of(figure, i));
    table["rows"].push_back(contender_row(i, std::move(cells)));
  }
  return table;
}

std::string words_on_allocators(const Figures& figures, const Figure& time, const Figure& memory) {
  const std::optional<std::size_t> system = figures.find_contender(kSystemName);
  if (!system || memory.summaries[*system].median <= 0) return {};
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < figures.contenders.size(); ++i) {
    const Summary &own = time.summaries[i], &of_system = time.summaries[*system];
    if (!figures.contenders[i].is_ours() || own.median <= 0) continue;
    sentences.push_back(fmt::format("{} {}{} and {}.", figures.contenders[i].allocator.name,
                                    words_on_speed(own, of_system),
                                    words_on_best(figures, time, own, of_system),
                                    words_on_amount(memory, memory.summaries[i], memory.summaries[*system])));
  }
  if (!sentences.empty() && most_runs(figures.contenders) < 2)
    sentences.emplace_back("One round tells no noise.");
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace tarn::tool
