// The command that `tarn watch` runs at a threshold.
#pragma once
#include <string>

#include "look/watch/thresholds.h"
#include "system/processes/signals.h"

namespace tarn::tool {

/// Runs it by a shell, with what the look says in its environment; says on standard error how it fails.
/// \returns false when a signal has ended it
bool run_hook(const std::string& command, const Json& memory, const Threshold& threshold,
              SignalWatch& signals);

}  // namespace tarn::tool
