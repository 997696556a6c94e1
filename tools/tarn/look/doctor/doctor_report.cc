// Signs, wrapping and JSON of findings.
#include "look/doctor/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "system/figures/format.h"

namespace tarn::tool {
namespace {

using observer::Finding;
using observer::Severity;

struct Sign {
  const char* text;
  Style style;
};

Sign sign_of(Severity severity) {
  switch (severity) {
    case Severity::kBad:
      return {"✗", Style::kBad};
    case Severity::kNote:
      return {"!", Style::kHeading};
    case Severity::kOk:
      break;
  }
  return {"✓", Style::kGood};
}

/// Lines that begin with a sign, the further ones indented as far.
std::string hanging(const std::string& sign, const std::string& text, std::size_t indent, std::size_t width) {
  constexpr std::size_t kLeastWidth = 20;
  std::string lines;
  for (const std::string& line : wrap(text, std::max(width, kLeastWidth + indent) - indent))
    lines += (lines.empty() ? sign + " " : std::string(indent, ' ')) + line + "\n";
  return lines;
}

std::string text_of_finding(const Finding& finding, std::size_t width, Colour colour) {
  const Sign sign = sign_of(finding.severity);
  std::string text = hanging(styled(sign.text, sign.style, colour), finding.what, 2, width);
  if (!finding.advice.empty()) text += hanging("  →", finding.advice, 4, width);
  return text;
}

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [severity](const Finding& one) { return one.severity == severity; }));
}

bool looked_for_leaks(const std::vector<Finding>& findings) {
  return std::ranges::find(findings, "leaks", &Finding::id) != findings.end();
}

}  // namespace

std::string doctor_text(const observer::Snapshot& snapshot, const std::vector<Finding>& findings,
                        std::size_t width, Colour colour) {
  std::string text = fmt::format("{} {}, tarn {}: {} bad, {} to note, {} fine{}\n", snapshot.program,
                                 snapshot.pid, snapshot.library_version, count_of(findings, Severity::kBad),
                                 count_of(findings, Severity::kNote), count_of(findings, Severity::kOk),
                                 looked_for_leaks(findings) ? "" : "; not looked for: leaks (--leaks)");
  for (const Finding& finding : findings) text += text_of_finding(finding, width, colour);
  return text;
}

std::string next_text(const observer::NextStep& next, std::size_t width) {
  if (next.command.empty()) return "";
  return hanging("next:", fmt::format("`{}` ({})", next.command, next.why), 6, width);
}

Json doctor_json(const observer::Snapshot& snapshot, const std::vector<Finding>& findings,
                 const observer::NextStep& next) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"id", finding.id},
                    {"severity", name_of(finding.severity)},
                    {"bytes", finding.bytes},
                    {"what", finding.what},
                    {"advice", finding.advice}});
  return observer::document_json(
      "tarn doctor", 1, snapshot.library_version,
      {{"program", snapshot.program},
       {"pid", snapshot.pid},
       {"time", snapshot.time},
       {"not_looked_for", looked_for_leaks(findings) ? Json::array() : Json::array({"leaks"})},
       {"findings", std::move(list)},
       {"next", next.command.empty() ? Json(nullptr) : Json{{"command", next.command}, {"why", next.why}}}});
}

}  // namespace tarn::tool
