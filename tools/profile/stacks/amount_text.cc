#include "profile/stacks/amount_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tarn::profile {

std::string bytes_text(double bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (std::abs(bytes) < 999.5) return fmt::format("{:.0f} B", bytes);
  double number = bytes / 1024;
  std::size_t unit = 0;
  for (; std::abs(number) >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1024;
  const double size = std::abs(number);
  return fmt::format("{:.{}f} {}", number, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, kUnits[unit]);
}

std::string change_text(double bytes) {
  return fmt::format("{}{}", bytes >= 0.5 ? "+" : "", bytes_text(bytes));
}

std::string count_text(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string counted(double count, const std::string& word) {
  return fmt::format("{} {}{}", count_text(count), word, std::llround(count) == 1 ? "" : "s");
}

std::string share_text(double part, double whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0);
}

}  // namespace tarn::profile
