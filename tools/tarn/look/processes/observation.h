// One look after another at one program.
#pragma once
#include <optional>

#include "look/processes/top_view.h"
#include "observer/process/source.h"

namespace tarn::tool {

/// Looks now. The rates are those since `before`; nullptr: there are none.
/// \throws observer::ObserveError: see observer::read_snapshot.
Look look_at(observer::Source& source, const Look* before);

/// Whether a process is no more, or a zombie.
bool has_ended(const observer::Source& source);

/// \returns nothing when the system does not tell.
std::optional<double> seconds_up(const observer::Source& source);

}  // namespace tarn::tool
