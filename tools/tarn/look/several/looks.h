// Looks at several processes, each by a process of its own with a time limit: what is read there may be
// anything.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "look/processes/followed_program.h"
#include "look/several/cgroup.h"

namespace tarn::tool {

struct Looks {
  struct Process {
    int pid;
    std::uint64_t start_ticks;  // of start_ticks_of(), when it was looked at
    std::string text;           // what was told of it
  };

  std::vector<Process> on_tarn;  // by ascending numbers
  std::vector<int> failed;       // on tarn, but there was no answer
  std::size_t refused = 0;       // no right to look, or not even that was answered
  int next = 0;                  // the first that there was no time for; 0: there was for all
};

/// Looks at those that run on tarn, and that are in their groups still; "" is none. One that stalls takes a
/// quarter of the time that is left. \param most_seconds for all together; those left then are refused
/// \param first it begins there: with `next` of the last look all have their turn
Looks look_at_each(const GroupOfProcess& processes, const FollowedProgram::Tell& tell, double most_seconds,
                   int first = 0);

struct CgroupLook : Looks {
  std::string path;
  Cgroup cgroup;

  std::string name() const;  // as system.slice/redis.service
};

/// A cgroup that is looked at again and again; it may go and come.
class FollowedCgroup {
 public:
  /// \param word as of find_cgroup()
  explicit FollowedCgroup(std::string word) : word_(std::move(word)) {}

  /// At it and its processes, within eight seconds. \throws observer::ObserveError where there is none
  CgroupLook look(const FollowedProgram::Tell& tell);

 private:
  const std::string word_;
  std::string path_;  // stays while there is one
  int next_ = 0;      // process
};

}  // namespace tarn::tool
