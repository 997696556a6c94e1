// Figures as text.
#include "observer/text/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tarn::observer {
namespace {

/// The numbers from which on a figure takes the next unit, and no or one digit behind the point.
struct Steps {
  double next_unit, no_digit, one_digit;
  std::size_t units;
};
constexpr Steps kInSentences{1024, 100, 10, 4};
constexpr Steps kInColumns{999.5, 99.95, 9.995, 6};  // also what is rounded up has three digits

std::string digits_of(double number, const Steps& steps) {
  const double size = std::abs(number);
  return fmt::format("{:.{}f}", number, size >= steps.no_digit ? 0 : size >= steps.one_digit ? 1 : 2);
}

std::string bytes_text(double bytes, const Steps& steps) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (std::abs(bytes) < steps.next_unit) return fmt::format("{:.0f} B", bytes);
  double number = bytes / 1024;
  std::size_t unit = 0;
  for (; std::abs(number) >= steps.next_unit && unit + 1 < steps.units; ++unit) number /= 1024;
  return fmt::format("{} {}", digits_of(number, steps), kUnits[unit]);
}

/// "-1234567" with its thousands set apart.
std::string grouped(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string with_plural(const std::string& count, std::string_view one, bool is_one) {
  return fmt::format("{} {}{}", count, one, is_one ? "" : "s");
}

}  // namespace

std::string bytes_in_words(std::uint64_t bytes) {
  return bytes_text(static_cast<double>(bytes), kInSentences);
}

std::string count_in_words(std::uint64_t count) { return grouped(std::to_string(count)); }

std::string percent_in_words(double part, double whole) {
  if (whole <= 0 || part <= 0) return "0 %";
  const double percent = 100 * part / whole;
  return fmt::format("{:.{}f} %", percent, percent >= 9.95 ? 0 : 1);
}

std::string counted(std::uint64_t count, std::string_view one) {
  return with_plural(count_in_words(count), one, count == 1);
}

std::string three_digits(double number) { return digits_of(number, kInColumns); }

std::string short_bytes(double bytes) { return bytes_text(bytes, kInColumns); }

std::string change_in_bytes(double bytes) {
  return fmt::format("{}{}", bytes >= 0.5 ? "+" : "", short_bytes(bytes));
}

std::string share_in_words(double part, double whole) {
  return fmt::format("{:.1f} %", whole > 0 ? 100 * part / whole : 0.0);
}

std::string estimate_in_words(double count) { return grouped(fmt::format("{:.0f}", count)); }

std::string counted_estimate(double count, std::string_view one) {
  return with_plural(estimate_in_words(count), one, std::llround(count) == 1);
}

}  // namespace tarn::observer
