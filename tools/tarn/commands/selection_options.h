// The options by which a command is told its allocators.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "engine/allocators.h"

namespace tarn::tool {

/// Adds --with, --without and --set. \param settings KEY=VALUE, for tarn alone.
void add_selection_options(CLI::App& command, Selection& selection, std::vector<std::string>& settings);

}  // namespace tarn::tool
