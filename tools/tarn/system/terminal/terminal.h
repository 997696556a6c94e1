// What the reader's end of a stream can show.
#pragma once
#include <cstddef>

#include "system/terminal/styled_text.h"

namespace tarn::tool {

bool is_terminal(int descriptor);

/// Colours only on a terminal, and not where NO_COLOR (no-color.org) or TERM=dumb says otherwise.
Colour colour_for(int descriptor);

enum class ColourDepth : std::uint8_t { kNone, k256, k24Bit };

/// What COLORTERM and TERM say, where colour_for() allows any.
ColourDepth colour_depth_for(int descriptor);

/// Characters in a line; `otherwise` where there is no terminal.
std::size_t columns_of(int descriptor, std::size_t otherwise);

}  // namespace tarn::tool
