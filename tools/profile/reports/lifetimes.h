// How long the blocks of each site lived: a table for a terminal.
#pragma once
#include <string>

#include "profile/names/function_name.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

struct LifetimesShape {
  NameForm names = NameForm::kShort;
  std::size_t rows = 20;  // 0: all
  std::size_t columns = 100;
};

/// The sites that allocated most while the profile was on, and what became of it: how much was freed within a
/// millisecond, within a second, later, and how much is live.
std::string lifetimes_text(const NamedProfile& profile, const LifetimesShape& shape);

}  // namespace tarn::profile
