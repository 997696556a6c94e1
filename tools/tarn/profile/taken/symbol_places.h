// Where the names of a program's code are looked for.
#pragma once
#include "observer/process/source.h"
#include "profile/symbols/symbols.h"

namespace tarn::tool {

/// Of a process its files as it sees them, what it has mapped, its memory, and what it tells of code that it
/// has made; of a core file, files as this tool sees them. \pre `source` outlives the result
profile::SymbolPlaces symbol_places(const observer::Source& source);

}  // namespace tarn::tool
