// A program that is looked at for days: it may end and start again under its name, as another user too; it
// may hang, or forge its memory. So each look is made by a process of its own, with a time limit, and this
// one keeps its rights and its memory.
//
// Threads: for a process with one thread only, which has no other children while look() runs.
#pragma once
#include <functional>
#include <string>

#include "look/processes/target.h"
#include "look/processes/top_view.h"
#include "observer/files/descriptor.h"

namespace tarn::tool {

inline constexpr double kLookSeconds = 8;                             // Prometheus waits ten
inline constexpr std::size_t kMostTextBytes = std::size_t{16} << 20;  // that is told of a look

/// Whether a reader that was killed hangs in the kernel still. \post those that have ended are waited for
bool is_reader_left();

class FollowedProgram {
 public:
  /// Makes of a look a text of whole lines, none of which is empty.
  using Tell = std::function<std::string(const Look&)>;

  struct Answer {
    bool is_up;
    std::string text;         // what was told; or in one printable line why there was no look
    bool is_unknown = false;  // nothing tells whether it runs
  };

  /// A number stays that of the process that has it now. \throws UsageError where the target is no process
  explicit FollowedProgram(const Target& target);

  Answer look(const Tell& tell) const;

  /// \throws observer::ObserveError where a process of that number cannot be looked at: that stays so
  Answer first_look(const Tell& tell) const;

  /// Whether the process of that number is no more; a name may come back.
  bool has_ended() const;

 private:
  std::string look_in_reader(const Tell& tell) const;

  const Target target_;
  const int number_;              // 0: it is followed by its name
  observer::Descriptor process_;  // of that number; where the kernel has none, the number is trusted
};

}  // namespace tarn::tool
