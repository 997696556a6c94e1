// The processes of a running server, read from /proc: who belongs to it, what they have used, what they have
// resident.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/figures/measurement.h"

namespace tarn::tool {

/// The children of a process, those that have ended and are not waited for included.
std::vector<pid_t> children_of(pid_t pid);

/// A process, its children, theirs, and so on.
std::vector<pid_t> tree_of(pid_t root);

/// Whether the process is there and has not ended.
bool is_alive(pid_t pid);

/// When it has started, in the kernel's ticks since the machine has: another one of its number has another.
/// \returns 0 when it has ended
std::uint64_t start_ticks_of(pid_t pid);

/// Its name, as ps shows it.
std::string name_of(pid_t pid);

/// What the processes have used since they began, children that they waited for included: page faults, and
/// CPU time in steps of the kernel's clock tick (10 ms). \post the other figures are 0
Measurement use_of(const std::vector<pid_t>& processes);

/// What is spent between two readings.
Measurement use_between(const Measurement& before, const Measurement& after);

/// Resident bytes. Of one process its RSS; of several the sum of their proportional shares (Pss), in which a
/// page that they share counts once. \cost of several: a walk of their page tables, some 10 ms for each GiB
std::uint64_t resident_bytes(const std::vector<pid_t>& processes);

}  // namespace tarn::tool
