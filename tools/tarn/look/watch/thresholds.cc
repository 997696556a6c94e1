#include "look/watch/thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/options/option_parser.h"
#include "look/processes/memory_of_look.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

constexpr const char* kCgroup = "cgroup";

/// Of "rss=2G". \why the parser of an option: a size is then the same text everywhere
Threshold threshold_of(const std::string& text, bool has_cgroup) {
  const std::size_t mark = std::min(text.find('='), text.size());
  const std::string figure = text.substr(0, mark);
  bool is_known = figure == "rss" || (has_cgroup && figure == kCgroup);
  for (const observer::PartName& part : observer::kParts) is_known |= figure == part.key;
  std::int64_t bytes = 0;
  if (!is_known || mark == text.size() ||
      !internal::parse_option_value(*internal::find_option("hard_limit"), text.substr(mark + 1), &bytes))
    throw UsageError(
        fmt::format("--above takes rss=2G, or another part of it (live, free_in_slabs, other: "
                    "see `tarn top --json`){}, not '{}'",
                    has_cgroup ? ", or cgroup=2G" : "", text));
  return {figure, static_cast<std::uint64_t>(bytes)};
}

}  // namespace

bool is_of_cgroup(const Json& memory) { return memory.contains("memory_bytes"); }

std::optional<std::uint64_t> figure_in(const Json& memory, const std::string& figure) {
  if (memory.is_null() || is_of_cgroup(memory) != (figure == kCgroup)) return std::nullopt;
  if (figure != kCgroup) return bytes_of(memory, figure);
  const Json& bytes = memory.at("memory_bytes");
  return bytes.is_null() ? std::nullopt : std::optional(bytes.get<std::uint64_t>());
}

Thresholds::Thresholds(const std::vector<std::string>& texts, bool has_cgroup) {
  for (const std::string& text : texts) thresholds_.push_back(threshold_of(text, has_cgroup));
}

std::vector<Threshold> Thresholds::compare(const Json& memory) {
  std::vector<Threshold> changed;
  for (Threshold& threshold : thresholds_) {
    const bool is_above = figure_in(memory, threshold.figure).value_or(0) > threshold.bytes;
    if (std::exchange(threshold.is_above, is_above) != is_above) changed.push_back(threshold);
  }
  return changed;
}

std::vector<std::string> Thresholds::above() const {
  std::vector<std::string> figures;
  for (const Threshold& threshold : thresholds_)
    if (threshold.is_above) figures.push_back(threshold.figure);
  return figures;
}

}  // namespace tarn::tool
