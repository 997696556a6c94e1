// The file format of speedscope.app: two profiles, live and allocated bytes.
#pragma once
#include "profile/stacks/json.h"

namespace tarn::profile {

Json speedscope_json(const NamedProfile& profile);

}  // namespace tarn::profile
