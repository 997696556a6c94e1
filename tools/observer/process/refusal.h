// Why the kernel lets this tool not look into a process, and what to do about it. The rule is that of ptrace
// (ptrace(2), "Ptrace access mode checking"); it tells only yes or no, so the cause is found again here.
#pragma once
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

/// \param directory of /proc/PID
RefusalFacts gather_refusal_facts(int directory, int pid, std::string program);

/// One line: what keeps this tool out, and what to do.
std::string explain_refusal(const RefusalFacts& facts);

}  // namespace tarn::observer
