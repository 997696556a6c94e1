// Why the kernel lets this tool not look into a process, and what to do about it. The rule is that of ptrace
// (ptrace(2), "Ptrace access mode checking"); it tells only yes or no, so the cause is found again here.
#pragma once
#include <array>
#include <string>

namespace tarn::observer {

/// What the kernel's rule looks at.
struct RefusalFacts {
  int pid = 0;
  std::string program;
  unsigned own_user = 0;  // effective
  unsigned its_user = 0;  // of its real, effective and saved one the first that is another than own_user
  bool has_ptrace_right = false;  // this tool has CAP_SYS_PTRACE in its user namespace
  bool is_dumpable = true;        // false: it has privileges, or said prctl(PR_SET_DUMPABLE, 0)
  unsigned ptrace_scope = 0;      // of the Yama module; 0 without it
};

/// \param users real, effective, saved and of the file system, as the process has them
/// \param memory_owner of /proc/PID/mem: the kernel gives the files of a process that is not dumpable to root
RefusalFacts gather_refusal_facts(int pid, std::string program, const std::array<unsigned, 4>& users,
                                  unsigned memory_owner);

/// One line: what keeps this tool out, and what to do.
std::string explain_refusal(const RefusalFacts& facts);

// -- Rights that this process gives up for good, before it reads what somebody else may have forged ---------

/// The process becomes a user and has no capability, no other group and no way back; no other process of that
/// user may look into it. \throws ObserveError when it may not become that user.
void become_user(unsigned user, unsigned group);

/// Whether the process may do more than its user.
bool has_capabilities();
/// \throws ObserveError when the kernel refuses.
void give_up_capabilities();

}  // namespace tarn::observer
