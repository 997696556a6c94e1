// Figures as text.
#include "observer/text/words.h"

#include <fmt/format.h>

#include <array>

namespace tarn::observer {

std::string bytes_in_words(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2, kUnits[unit]);
}

std::string count_in_words(std::uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string grouped;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at != 0 && (digits.size() - at) % 3 == 0) grouped += ',';
    grouped += digits[at];
  }
  return grouped;
}

std::string percent_in_words(double part, double whole) {
  if (whole <= 0 || part <= 0) return "0 %";
  const double percent = 100 * part / whole;
  return fmt::format("{:.{}f} %", percent, percent >= 9.95 ? 0 : 1);
}

std::string address_in_words(std::uint64_t address) { return fmt::format("{:#x}", address); }

std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count_in_words(count), one, count == 1 ? "" : "s");
}

}  // namespace tarn::observer
