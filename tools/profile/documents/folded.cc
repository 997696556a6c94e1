#include "profile/documents/folded.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/stacks/flat_stack.h"
#include "profile/stacks/json.h"

namespace tarn::profile {
namespace {

std::string folded(const NamedStack& stack) {
  std::string line;
  for (const Frame& frame : outermost_first(stack)) {
    std::string name = frame.function;
    std::replace(name.begin(), name.end(), ';', ':');
    line += (line.empty() ? "" : ";") + name;
  }
  return line;
}

}  // namespace

std::string folded_text(const NamedProfile& profile, Measure measure) {
  std::map<std::string, double> bytes;
  for (const NamedStack& stack : profile.stacks())
    if (stack.amount(measure).bytes >= 0.5) bytes[folded(stack)] += stack.amount(measure).bytes;
  std::string text;
  Rounding rounded;
  for (const auto& [line, amount] : bytes) text += fmt::format("{} {}\n", line, rounded(amount));
  return text;
}

}  // namespace tarn::profile
