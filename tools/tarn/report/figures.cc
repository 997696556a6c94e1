// The best of a figure, marks and failures.
#include "report/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace tarn::tool {

char sign_of(Mark mark) { return mark == Mark::kBest ? '*' : mark == Mark::kEqual ? '=' : ' '; }

Style style_of(Mark mark) {
  return mark == Mark::kBest || mark == Mark::kEqual ? Style::kGood : Style::kPlain;
}

Summary Figure::best() const {
  return best_among([](std::size_t) { return true; });
}

double Figure::largest() const {
  double largest = 0;
  for (const Summary& summary : summaries) largest = std::max(largest, summary.median);
  return largest;
}

Unit Figure::unit() const { return unit_for(quantity, largest()); }

Mark Figure::mark_of(std::size_t contender) const {
  const Summary& own = summaries[contender];
  const Summary of_best = best();
  if (own.count == 0) return Mark::kNone;
  if (own.median == of_best.median) return Mark::kBest;
  return is_within_noise(own, of_best) ? Mark::kEqual : Mark::kPlain;
}

double Figure::ratio_of(double own, double other) const {
  if (own == 0 || other == 0) return 1;
  return quantity == Quantity::kSeconds ? other / own : own / other;
}

std::optional<std::size_t> Figures::find_contender(const std::string& name) const {
  for (std::size_t i = 0; i < contenders.size(); ++i)
    if (contenders[i].allocator.name == name && contenders[i].is_comparable()) return i;
  return std::nullopt;
}

const Figure* Figures::find(const std::string& key) const {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Figure& figure) { return figure.key == key; });
  return found == all.end() ? nullptr : &*found;
}

std::string failure_paragraph(const std::string& who, const Failure& failure, Colour colour,
                              const std::string& where) {
  std::string text = fmt::format("{}{}: {} ({})\n", styled("FAILED " + who, Style::kBad, colour), where,
                                 failure.what, failure.when);
  for (const std::string& line : failure.error_lines) text += "    " + line + "\n";
  return text;
}

std::string failure_report(const std::vector<Contender>& contenders, Colour colour) {
  const auto is_like_first = [&](const Contender& one) {
    return one.failure && contenders.front().failure && one.failure->what == contenders.front().failure->what;
  };
  if (contenders.size() > 1 && std::all_of(contenders.begin(), contenders.end(), is_like_first))
    return failure_paragraph("under every allocator alike", *contenders.front().failure, colour);
  std::string text;
  for (const Contender& one : contenders)
    if (one.failure) text += failure_paragraph(one.allocator.name, *one.failure, colour);
  return text;
}

}  // namespace tarn::tool
