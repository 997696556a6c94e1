#include "report/failures.h"

#include <fmt/format.h>

namespace tarn::tool {

std::string failure_paragraph(const std::string& who, const Failure& failure, Colour colour) {
  std::string text =
      fmt::format("{}: {} ({})\n", styled("FAILED " + who, Style::kBad, colour), failure.what, failure.when);
  for (const std::string& line : failure.error_lines) text += "    " + line + "\n";
  return text;
}

}  // namespace tarn::tool
