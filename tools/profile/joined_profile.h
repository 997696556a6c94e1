// The profiles of several processes as one: each stack begins with its process, "sh (4711)".
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "named_profile.h"

namespace tarn::profile {

struct ProfileOfProcess {
  std::string process;  // in words
  std::unique_ptr<NamedProfile> profile;
};

/// \pre there is one at least; one alone stays as it is.
std::unique_ptr<NamedProfile> joined(std::vector<ProfileOfProcess> profiles);

}  // namespace tarn::profile
