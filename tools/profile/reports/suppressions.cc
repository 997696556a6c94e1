#include "profile/reports/suppressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/leak_rules.h"
#include "observer/text/printable.h"

namespace tarn::profile {
namespace {

/// \returns what is wrong with a line; "" if nothing.
std::string fault_of(internal::LeakLine kind, std::string_view line) {
  switch (kind) {
    case internal::LeakLine::kNone:
      return fmt::format("\"{}\" is no suppression: write leak:PATTERN, or # before a comment",
                         observer::printable(line, 80));
    case internal::LeakLine::kOfAll:
      return "the pattern would suppress every leak: write a part of a function, a file or a module";
    case internal::LeakLine::kTooLong:
      return fmt::format("the pattern is longer than {} bytes", internal::kLongestLeakPattern);
    default:
      return {};
  }
}

bool is_in(const std::string& pattern, const Call& call, const HeapProfile& profile) {
  const std::size_t module = call.location->module;
  if (module != Location::kNoModule && internal::is_leak_match(pattern, profile.modules[module].path))
    return true;
  return std::any_of(call.frames().begin(), call.frames().end(), [&](const Frame& frame) {
    return internal::is_leak_match(pattern, frame.function) || internal::is_leak_match(pattern, frame.file);
  });
}

}  // namespace

Suppressions Suppressions::parse(std::string_view text, const std::string& file_name) {
  Suppressions suppressions;
  suppressions.add(text, file_name);
  return suppressions;
}

void Suppressions::add(std::string_view text, const std::string& file_name) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = internal::trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    std::string_view pattern;
    const internal::LeakLine kind = internal::read_leak_line(line, &pattern);
    if (kind == internal::LeakLine::kComment) continue;
    std::string fault = fault_of(kind, line);
    if (all_.size() == internal::kMostLeakPatterns)
      fault = fmt::format("more than {} suppressions", internal::kMostLeakPatterns);
    if (!fault.empty())
      throw ListError(fmt::format("{}:{}: {}", observer::printable(file_name), number, fault));
    all_.push_back({std::string(pattern), {}});
  }
}

bool Suppressions::suppress(const NamedStack& stack, const HeapProfile& profile) {
  for (Suppression& one : all_) {
    std::size_t first = 0;
    while (first < stack.calls.size() && !is_in(one.pattern, stack.calls[first], profile)) ++first;
    if (first == stack.calls.size()) continue;
    one.suppressed += stack.live;
    return true;
  }
  return false;
}

std::vector<std::string> Suppressions::unused() const {
  std::vector<std::string> patterns;
  for (const Suppression& one : all_)
    if (one.suppressed.blocks == 0 && one.suppressed.bytes == 0)
      patterns.push_back(observer::printable(one.pattern));
  return patterns;
}

}  // namespace tarn::profile
