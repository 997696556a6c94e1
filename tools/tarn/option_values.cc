// Reading and writing of option values.
#include "option_values.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "usage_error.h"

namespace tarn::tool {
namespace {

using internal::OptionInfo;
using internal::OptionKind;

std::string_view choice_name(std::string_view choices, std::int64_t index) {
  for (; index > 0; --index) choices.remove_prefix(choices.find('|') + 1);
  return choices.substr(0, choices.find('|'));
}

std::optional<std::int64_t> parse_choice(const OptionInfo& option, std::string_view text) {
  for (std::int64_t i = option.minimum; i <= option.maximum; ++i)
    if (choice_name(option.choices, i) == text) return i;
  return std::nullopt;
}

std::optional<std::int64_t> parse_bool(std::string_view text) {
  for (const char* yes : {"1", "on", "true", "yes"})
    if (text == yes) return 1;
  for (const char* no : {"0", "off", "false", "no"})
    if (text == no) return 0;
  return std::nullopt;
}

/// As the library reads them: K, M, G in either case, with B or iB behind them or not.
std::optional<std::int64_t> scale_of_size(std::string_view suffix) {
  const std::string_view rest = suffix.substr(1);
  if (!rest.empty() && rest != "B" && rest != "iB") return std::nullopt;
  switch (suffix.front()) {
    case 'k':
    case 'K':
      return internal::kKiB;
    case 'm':
    case 'M':
      return internal::kMiB;
    case 'g':
    case 'G':
      return internal::kGiB;
  }
  return std::nullopt;
}

std::optional<std::int64_t> scale_of(OptionKind kind, std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (kind == OptionKind::kBytes) return scale_of_size(suffix);
  if (suffix == "ms") return 1;
  if (suffix == "s") return 1000;
  return std::nullopt;
}

std::optional<std::int64_t> parse_number(OptionKind kind, std::string_view text) {
  std::int64_t number = 0, product = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const auto scale = scale_of(kind, text.substr(static_cast<std::size_t>(end - text.data())));
  if (!scale || __builtin_mul_overflow(number, *scale, &product)) return std::nullopt;
  return product;
}

bool is_accepted(const OptionInfo& option, std::string_view text) {
  if (option.kind == OptionKind::kPath) return !text.empty();
  const auto value = option.kind == OptionKind::kChoice ? parse_choice(option, text)
                     : option.kind == OptionKind::kBool ? parse_bool(text)
                                                        : parse_number(option.kind, text);
  return value && *value >= option.minimum && *value <= option.maximum;
}

/// Exactly, in the largest unit that leaves a whole number.
std::string format_size(std::int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

const OptionInfo& option_of_key(std::string_view key) {
  for (const OptionInfo& option : internal::kOptionTable)
    if (key == option.key) return option;
  throw UsageError(fmt::format("unknown option '{}' in --set: `tarn options` lists them", key));
}

}  // namespace

std::string environment_name(const OptionInfo& option) {
  std::string name = "TARN_";
  for (const char* c = option.key; *c != 0; ++c)
    name += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 'a' + 'A') : *c;
  return name;
}

std::string format_option_value(const OptionInfo& option, std::int64_t value) {
  switch (option.kind) {
    case OptionKind::kBool:
      return value != 0 ? "on" : "off";
    case OptionKind::kChoice:
      return std::string(choice_name(option.choices, value));
    case OptionKind::kMilliseconds:
      return value >= 10'000 && value % 1000 == 0 ? fmt::format("{} s", value / 1000)
                                                  : fmt::format("{} ms", value);
    case OptionKind::kPath:
      return "none";
    case OptionKind::kBytes:
      break;
  }
  return format_size(value);
}

std::string format_accepted_values(const OptionInfo& option) {
  switch (option.kind) {
    case OptionKind::kBool:
      return "on|off";
    case OptionKind::kChoice:
      return option.choices;
    case OptionKind::kPath:
      return "a file name";
    case OptionKind::kBytes:
    case OptionKind::kMilliseconds:
      break;
  }
  return fmt::format("{} .. {}", format_option_value(option, option.minimum),
                     format_option_value(option, option.maximum));
}

std::pair<std::string, std::string> parse_setting(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) throw UsageError(fmt::format("--set takes key=value, not '{}'", setting));
  const OptionInfo& option = option_of_key(std::string_view(setting).substr(0, equals));
  const std::string value = setting.substr(equals + 1);
  if (!is_accepted(option, value))
    throw UsageError(
        fmt::format("--set {}: '{}' is not one of {}", option.key, value, format_accepted_values(option)));
  return {environment_name(option), value};
}

}  // namespace tarn::tool
