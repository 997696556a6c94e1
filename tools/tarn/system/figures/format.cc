// Numbers, units, command lines and signals as text.
#include "system/figures/format.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "observer/text/printable.h"
#include "observer/text/words.h"

namespace tarn::tool {
namespace {

constexpr std::array kTimeUnits = {Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}};
constexpr std::array kByteUnits = {Unit{"GiB", 1 << 30}, Unit{"MiB", 1 << 20}, Unit{"KiB", 1 << 10},
                                   Unit{"B", 1}};

template <std::size_t N>
Unit first_that_fits(const std::array<Unit, N>& units, double largest) {
  for (const Unit& unit : units)
    if (largest >= unit.size) return unit;
  return units.back();
}

std::string with_unit(Unit unit, double value) {
  return fmt::format("{} {}", format_in(unit, value), unit.name);
}

bool needs_quotes(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
  return word.empty() || word.find_first_not_of(kPlain) != std::string::npos;
}

std::string quoted(const std::string& word) {
  if (!needs_quotes(word)) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

}  // namespace

Unit unit_for(Quantity quantity, double largest) {
  switch (quantity) {
    case Quantity::kSeconds:
      return first_that_fits(kTimeUnits, largest);
    case Quantity::kBytes:
      return first_that_fits(kByteUnits, largest);
    case Quantity::kCount:
      break;
  }
  return {"", 1};
}

std::string format_in(Unit unit, double value) {
  const double number = value / unit.size;
  const bool is_whole = number >= 1000 || number == std::floor(number);
  if (unit.size == 1 && (*unit.name == 0 || *unit.name == 'B') && is_whole)
    return format_count(static_cast<std::uint64_t>(std::llround(std::max(number, 0.0))));
  const int decimals = number >= 1000 ? 0 : number >= 100 ? 1 : number >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", number, decimals);
}

std::string format_bytes(double bytes) { return with_unit(unit_for(Quantity::kBytes, bytes), bytes); }

std::string format_seconds(double seconds) {
  return with_unit(unit_for(Quantity::kSeconds, seconds), seconds);
}

std::string format_count(std::uint64_t count) { return observer::count_in_words(count); }

std::string format_percent(double percent) { return fmt::format("{:.1f} %", percent); }

std::string format_seconds_left(double seconds) {
  const long whole = std::lround(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string format_command(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command)
    text += (text.empty() ? "" : " ") + observer::printable(quoted(word));
  return text;
}

std::string format_signal(int signal_number) {
  const char* name = sigabbrev_np(signal_number);
  if (name == nullptr) return fmt::format("signal {}", signal_number);
  return fmt::format("SIG{} ({})", name, sigdescr_np(signal_number));
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool is_first = lines.back().empty();
    if (!is_first && lines.back().size() + 1 + word.size() > width)
      lines.push_back(word);
    else
      lines.back() += (is_first ? "" : " ") + word;
  }
  return lines;
}

}  // namespace tarn::tool
