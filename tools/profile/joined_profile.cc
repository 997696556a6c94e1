#include "joined_profile.h"

namespace tarn::profile {

std::unique_ptr<NamedProfile> joined(std::vector<ProfileOfProcess> profiles) {
  if (profiles.size() > 1)
    for (const ProfileOfProcess& one : profiles) one.profile->put_behind_stacks(one.process);
  std::unique_ptr<NamedProfile> all = std::move(profiles.front().profile);
  for (std::size_t i = 1; i < profiles.size(); ++i) all->add(std::move(profiles[i].profile));
  return all;
}

}  // namespace tarn::profile
