// Terminal and colour detection.
#include "terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tarn::tool {

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

Colour colour_for(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  if (!is_terminal(descriptor) || (no_color != nullptr && *no_color != 0)) return Colour::kOff;
  return kind != nullptr && std::string_view(kind) == "dumb" ? Colour::kOff : Colour::kOn;
}

}  // namespace tarn::tool
