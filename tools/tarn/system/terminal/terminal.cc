// Terminal and colour detection.
#include "system/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

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

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

Colour colour_for(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  if (!is_terminal(descriptor) || (no_color != nullptr && *no_color != 0)) return Colour::kOff;
  return kind != nullptr && std::string_view(kind) == "dumb" ? Colour::kOff : Colour::kOn;
}

ColourDepth colour_depth_for(int descriptor) {
  if (colour_for(descriptor) == Colour::kOff) return ColourDepth::kNone;
  const char* depth = std::getenv("COLORTERM");
  const bool is_deep =
      depth != nullptr && (std::string_view(depth) == "truecolor" || std::string_view(depth) == "24bit");
  return is_deep ? ColourDepth::k24Bit : ColourDepth::k256;
}

std::size_t columns_of(int descriptor, std::size_t otherwise) {
  winsize size{};
  const bool is_known = ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return is_known ? size.ws_col : otherwise;
}

std::string styled(const std::string& text, Style style, Colour colour) {
  if (colour == Colour::kOff || style == Style::kPlain || text.empty()) return text;
  return escape_of(style) + text + "\033[0m";
}

}  // namespace tarn::tool
