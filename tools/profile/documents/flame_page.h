// A flame graph as one HTML file that needs nothing else.
#pragma once
#include <string>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

std::string flame_page(const NamedProfile& profile);

}  // namespace tarn::profile
