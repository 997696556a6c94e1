// The whole profile as JSON: every stack with its names and figures.
#pragma once
#include "profile/stacks/json.h"

namespace tarn::profile {

/// {"format": "tarn-heap-profile", "version": 1, ...}. Fields are added without a new version.
Json profile_json(const NamedProfile& profile);

}  // namespace tarn::profile
