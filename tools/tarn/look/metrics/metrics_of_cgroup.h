// The metrics of all processes of a cgroup as one page.
#pragma once
#include <string>
#include <vector>

#include "look/several/looks.h"

namespace tarn::tool {

/// Of a program that was looked at, or not: tarn_up, and behind it what was told, or a comment that says why.
std::string page_of(const FollowedProgram::Answer& answer);

struct LabelledPage {
  std::string labels;  // pid="4711",program="redis-server"
  std::string text;
};
/// One page of several: as the format demands, all series of a metric stand together.
std::string joined(const std::vector<LabelledPage>& pages);

/// With labels of the process at each, and the memory of the cgroup.
std::string page_of_cgroup(const CgroupLook& look);

}  // namespace tarn::tool
