// Escapes of terminals.
#include "system/terminal/styled_text.h"

namespace tarn::tool {
namespace {

const char* escape_of(Style style) {
  switch (style) {
    case Style::kHeading:
      return "\033[1m";
    case Style::kGood:
      return "\033[32m";
    case Style::kBad:
      return "\033[31m";
    case Style::kFaint:
      return "\033[2m";
    case Style::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::string styled(const std::string& text, Style style, Colour colour) {
  if (colour == Colour::kOff || style == Style::kPlain || text.empty()) return text;
  return escape_of(style) + text + "\033[0m";
}

}  // namespace tarn::tool
