// Who a process is, as the kernel tells it at one moment. Two equal answers, one before and one after a
// descriptor was opened, say that the descriptor is of what was looked at.
//
// Threads: any.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace tarn::observer {

/// The file of a program. \why its own struct: who has given up rights may not be told.
struct ProgramFile {
  std::uint64_t device = 0, number = 0;  // 0: not told
  bool gives_rights = false;             // it has a set-user bit, a set-group bit or capabilities
  bool operator==(const ProgramFile&) const = default;
};

struct ProcessIdentity {
  // Real, effective, saved, of the file system; as this tool's user namespace numbers them.
  std::array<unsigned, 4> users{}, groups{};
  std::uint64_t start_ticks = 0;  // since the machine has started
  unsigned memory_owner = 0;      // of /proc/PID/mem: root where the process hides its memory
  ProgramFile program;

  /// Whether it has rights that its user has not, or had some, as far as the kernel tells.
  bool may_be_privileged() const;
  bool operator==(const ProcessIdentity&) const = default;
};

/// \param directory a descriptor of /proc/PID. \returns nothing when the process has ended.
std::optional<ProcessIdentity> read_identity(int directory);

}  // namespace tarn::observer
