#include "commands/closest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tarn::tool {
namespace {

/// How many characters are to be put in, left out, replaced or exchanged with the next one.
/// Source: the optimal string alignment distance.
std::size_t strokes_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t kLongestName = 64;  // what is longer is no slip
  if (typed.size() > kLongestName) return {};
  std::size_t least = std::min<std::size_t>(typed.size() / 4 + 1, 3);
  const std::string* closest = nullptr;
  for (const std::string& name : names)
    if (const std::size_t strokes = strokes_between(typed, name);
        strokes < least || (closest == nullptr && strokes == least && least < name.size())) {
      least = strokes;
      closest = &name;
    }
  return closest == nullptr ? "" : fmt::format("; did you mean '{}'?", *closest);
}

}  // namespace tarn::tool
