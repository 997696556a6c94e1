// Looks at several processes, each by a process of its own with a time limit: what is read there may be
// anything.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "look/processes/followed_program.h"
#include "look/several/cgroup.h"

namespace tarn::tool {

struct Looks {
  struct Process {
    int pid;
    std::string text;  // what was told of it
  };

  std::vector<Process> on_tarn;
  std::vector<int> failed;  // on tarn, but there was no answer
  std::size_t refused = 0;  // no right to look, or not even that was answered
};

/// Looks at those that run on tarn. \param most_seconds for all together; what is left then is refused
Looks look_at_each(const std::vector<int>& processes, const FollowedProgram::Tell& tell, double most_seconds);

struct CgroupLook : Looks {
  std::string path;
  Cgroup cgroup;

  std::string name() const;  // as system.slice/redis.service
};

/// At a cgroup and its processes, within eight seconds. \param word as of find_cgroup()
/// \throws observer::ObserveError where there is none
CgroupLook look_at_cgroup(const std::string& word, const FollowedProgram::Tell& tell);

}  // namespace tarn::tool
