#include "suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "observer/input_file.h"
#include "printable.h"

namespace tarn::profile {
namespace {

constexpr std::string_view kType = "leak:", kBlank = " \t\r\v\f";
constexpr std::size_t kMostPatterns = 10'000, kLongestPattern = 4096, kLargestFile = 1 << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

/// Whether the whole text is of the pattern, whose only sign is "*". The last "*" alone is ever tried anew.
bool is_whole_match(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, star = std::string_view::npos, star_text = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_text = i;
    } else if (at < pattern.size() && pattern[at] == text[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

/// \returns what is wrong with a line; "" if nothing.
std::string fault_of(std::string_view line) {
  if (!line.starts_with(kType))
    return fmt::format("\"{}\" is no suppression: write leak:PATTERN, or # before a comment",
                       printable(line, 80));
  if (trimmed(line.substr(kType.size())).find_first_not_of("*^$") == std::string_view::npos)
    return "the pattern would suppress every leak: write a part of a function, a file or a module";
  if (line.size() > kLongestPattern)
    return fmt::format("the pattern is longer than {} bytes", kLongestPattern);
  return {};
}

bool is_in(const std::string& pattern, const Call& call, const HeapProfile& profile) {
  const std::size_t module = call.location->module;
  if (module != Location::kNoModule && is_match(pattern, profile.modules[module].path)) return true;
  return std::any_of(call.frames().begin(), call.frames().end(), [&](const Frame& frame) {
    return is_match(pattern, frame.function) || is_match(pattern, frame.file);
  });
}

}  // namespace

bool is_match(std::string_view pattern, std::string_view text) {
  const bool is_bound_to_start = pattern.starts_with('^'), is_bound_to_end = pattern.ends_with('$');
  if (text.empty() || pattern.empty()) return false;
  pattern.remove_prefix(is_bound_to_start ? 1 : 0);
  if (is_bound_to_end && !pattern.empty()) pattern.remove_suffix(1);
  return is_whole_match((is_bound_to_start ? "" : "*") + std::string(pattern) + (is_bound_to_end ? "" : "*"),
                        text);
}

Suppressions Suppressions::parse(std::string_view text, const std::string& file_name) {
  Suppressions suppressions;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.empty() || line.starts_with('#')) continue;
    std::string fault = fault_of(line);
    if (suppressions.all_.size() == kMostPatterns)
      fault = fmt::format("more than {} suppressions in one file", kMostPatterns);
    if (!fault.empty()) throw SuppressionError(fmt::format("{}:{}: {}", printable(file_name), number, fault));
    suppressions.all_.push_back({std::string(trimmed(line.substr(kType.size()))), {}});
  }
  return suppressions;
}

Suppressions Suppressions::read(const std::string& path) {
  const observer::InputFile file = observer::open_regular_file(path);
  if (!file.is_open())
    throw SuppressionError(fmt::format("{}: cannot be read: {}", printable(path), std::strerror(errno)));
  if (file.bytes() > kLargestFile)
    throw SuppressionError(fmt::format("{}: a file of suppressions has at most 1 MiB", printable(path)));
  std::string text(file.bytes(), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  return parse(text, path);
}

bool Suppressions::suppress(const NamedStack& stack, const HeapProfile& profile) {
  for (Suppression& one : all_) {
    const auto has_pattern = [&](const Call& call) { return is_in(one.pattern, call, profile); };
    if (std::none_of(stack.calls.begin(), stack.calls.end(), has_pattern)) continue;
    one.suppressed += stack.live;
    return true;
  }
  return false;
}

std::vector<std::string> Suppressions::unused() const {
  std::vector<std::string> patterns;
  for (const Suppression& one : all_)
    if (one.suppressed.blocks == 0 && one.suppressed.bytes == 0) patterns.push_back(printable(one.pattern));
  return patterns;
}

}  // namespace tarn::profile
