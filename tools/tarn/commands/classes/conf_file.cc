// The library's own parser, with an error for what it would only complain of.
#include "commands/classes/conf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/options/option_parser.h"
#include "commands/classes/class_costs.h"
#include "commands/option_values.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

constexpr std::size_t kMostConfBytes = 8 * 1024;  // the library reads no more
constexpr std::size_t kLongestValue = 511;        // and keeps no longer path

/// \param place the file and the line
void check_pair(const std::string& place, const internal::OptionPair& pair) {
  const internal::OptionInfo* const option = internal::find_option(pair.key);
  if (option == nullptr)
    throw UsageError(fmt::format("{}: unknown option '{}': `tarn options` lists them", place, pair.key));
  std::int64_t number = 0;
  if (!internal::parse_option_value(*option, pair.value, &number))
    throw UsageError(fmt::format("{}: {}: '{}' is not one of {}", place, pair.key, pair.value,
                                 format_accepted_values(*option)));
  if (option->id == internal::Option::kClassesFile && !pair.value.empty())
    read_class_file(std::string(pair.value));
}

std::string text_of_conf(const std::string& path) {
  const std::optional<std::string> text = is_file(path) ? read_file(path) : std::nullopt;
  if (!text) throw UsageError(fmt::format("cannot read the options of '{}': it is no file", path));
  if (text->size() > kMostConfBytes)
    throw UsageError(fmt::format("{} is larger than the 8 KiB that the library reads of options", path));
  return *text;
}

}  // namespace

std::string checked_conf_file(const std::string& path) {
  const std::string text = text_of_conf(path);
  std::string_view left = text;
  for (internal::OptionPair pair; internal::next_option_pair(&left, &pair);) {
    const auto line = 1 + std::count(text.data(), pair.key.data(), '\n');
    check_pair(fmt::format("{}:{}", path, line), pair);
  }
  return std::filesystem::absolute(path).lexically_normal().string();
}

bool is_value_of_conf(const std::string& path) {
  const std::string text = "classes_file:" + path + "\n";
  std::string_view left = text;
  internal::OptionPair pair;
  return path.size() <= kLongestValue && internal::next_option_pair(&left, &pair) && pair.value == path;
}

}  // namespace tarn::tool
