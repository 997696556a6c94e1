// Folded stacks, a line each: "main;build;grow 4096". flamegraph.pl, inferno and speedscope read them.
#pragma once
#include <string>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// By name; the number is bytes. A ";" of a name is written as ":".
std::string folded_text(const NamedProfile& profile, Measure measure);

}  // namespace tarn::profile
