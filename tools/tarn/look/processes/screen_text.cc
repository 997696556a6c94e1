#include "look/processes/screen_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "system/figures/format.h"

namespace tarn::tool {

std::string short_count(std::uint64_t count) {
  constexpr std::array kSuffixes = {"k", "M", "G", "T", "P", "E"};
  if (count < 100'000) return format_count(count);
  double number = static_cast<double>(count) / 1000;
  std::size_t suffix = 0;
  for (; number >= 999.5 && suffix + 1 < kSuffixes.size(); ++suffix) number /= 1000;
  return fmt::format("{} {}", observer::three_digits(number), kSuffixes[suffix]);
}

std::string short_rate(double a_second) {
  if (a_second == 0) return "0";
  if (a_second < 9.95) return fmt::format("{:.1f}", a_second);
  return short_count(static_cast<std::uint64_t>(std::llround(a_second)));
}

std::string short_change(double a_second) {
  if (a_second == 0) return "0";
  return (a_second < 0 ? "-" : "+") + short_rate(std::abs(a_second));
}

std::string up_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
  const std::uint64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
  if (days != 0) return fmt::format("{}d {:02}:{:02}", days, hours, minutes);
  return fmt::format("{:02}:{:02}:{:02}", hours, minutes, whole % 60);
}

std::string bar(double share, std::size_t width) {
  const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  const auto full = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width)));
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += i < full ? "█" : "░";
  return text;
}

Line cut(const Line& line, std::size_t width) {
  Line short_line;
  for (const Cell& cell : line) {
    if (width == 0) break;
    short_line.push_back({observer::first_columns(cell.text, width), cell.style});
    width -= width_of(short_line.back().text);
  }
  return short_line;
}

Line filled(Line line, std::size_t width) {
  const std::size_t has = width_of(line);
  if (has < width) line.push_back({std::string(width - has, ' ')});
  return line;
}

std::string text_of(const Line& line, Colour colour) {
  std::string text;
  for (const Cell& cell : line) text += styled(cell.text, cell.style, colour);
  if (colour == Colour::kOff) text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace tarn::tool
