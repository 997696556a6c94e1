// What the reader's end of a stream can show.
#pragma once
#include "table.h"

namespace tarn::tool {

bool is_terminal(int descriptor);

/// Colours only on a terminal, and not where NO_COLOR (no-color.org) or TERM=dumb says otherwise.
Colour colour_for(int descriptor);

}  // namespace tarn::tool
