// Option values as text; the reading is the library's.
#include "commands/option_values.h"

#include <fmt/format.h>

#include "base/options/option_parser.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

using internal::OptionInfo;
using internal::OptionKind;

/// Exactly, in the largest unit that leaves a whole number.
std::string format_size(std::int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, units[unit]);
}

}  // namespace

std::string format_option_value(const OptionInfo& option, std::int64_t value) {
  switch (option.kind) {
    case OptionKind::kBool:
      return value != 0 ? "on" : "off";
    case OptionKind::kChoice:
      return std::string(internal::choice_name(option, value));
    case OptionKind::kMilliseconds:
      return value >= 10'000 && value % 1000 == 0 ? fmt::format("{} s", value / 1000)
                                                  : fmt::format("{} ms", value);
    case OptionKind::kNumber:
      return fmt::format("{}", value);
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
    case OptionKind::kNumber:
      break;
  }
  return fmt::format("{} .. {}", format_option_value(option, option.minimum),
                     format_option_value(option, option.maximum));
}

std::pair<std::string, std::string> parse_setting(const std::string& setting, const char* flag) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos)
    throw UsageError(fmt::format("{} takes key=value, not '{}'", flag, setting));
  const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
  const OptionInfo* const option = internal::find_option(key);
  if (option == nullptr)
    throw UsageError(fmt::format("unknown option '{}' in {}: `tarn options` lists them", key, flag));
  std::int64_t number = 0;
  if (!internal::parse_option_value(*option, value, &number))
    throw UsageError(
        fmt::format("{} {}: '{}' is not one of {}", flag, key, value, format_accepted_values(*option)));
  return {internal::environment_name(*option).text, value};
}

}  // namespace tarn::tool
