#include "observer/process/refusal.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include "observer/files/kernel_text.h"

namespace tarn::observer {
namespace {

std::string reason_of(const RefusalFacts& facts) {
  if (facts.ptrace_scope >= 3)
    return "nobody may look into processes since kernel.yama.ptrace_scope is 3: set it to 1 in /etc/sysctl.d "
           "and reboot";
  if (facts.has_ptrace_right)
    return "a user namespace, a container or a security module (AppArmor, SELinux) forbids it: run tarn as "
           "root "
           "on the host";
  if (facts.own_user == 0)
    return "root has no CAP_SYS_PTRACE here: start the container with --cap-add=SYS_PTRACE, or run tarn on "
           "the "
           "host";
  if (facts.its_user != facts.own_user)
    return fmt::format("it belongs to user {}, and you are user {}: run tarn as root", facts.its_user,
                       facts.own_user);
  if (!facts.is_dumpable)
    return "it has privileges or hides its memory (set-uid, file capabilities, PR_SET_DUMPABLE): run tarn as "
           "root";
  if (facts.ptrace_scope == 2)
    return "only root may look into processes since kernel.yama.ptrace_scope is 2: run tarn as root";
  if (facts.ptrace_scope == 1)
    return "kernel.yama.ptrace_scope is 1: run tarn as root, or start the program with TARN_OBSERVE=owner or "
           "by "
           "`tarn run`";
  return "it has capabilities that you have not, or a security module forbids it: run tarn as root";
}

}  // namespace

RefusalFacts gather_refusal_facts(int pid, std::string program, const std::array<unsigned, 4>& users,
                                  unsigned memory_owner) {
  RefusalFacts facts;
  facts.pid = pid;
  facts.program = std::move(program);
  facts.own_user = geteuid();
  const auto [real, effective, saved, of_file_system] = users;
  facts.its_user = facts.own_user;
  for (const unsigned user : {saved, real, effective})  // the effective one before all
    if (user != facts.own_user) facts.its_user = user;
  facts.is_dumpable = memory_owner == effective;
  const std::string own = read_kernel_text("/proc/self/status").value_or("");
  facts.has_ptrace_right = (number_in(field_of(own, "CapEff:"), 16) >> CAP_SYS_PTRACE & 1) != 0;
  const std::string scope = read_kernel_text("/proc/sys/kernel/yama/ptrace_scope").value_or("");
  facts.ptrace_scope = static_cast<unsigned>(number_in(scope));
  return facts;
}

std::string explain_refusal(const RefusalFacts& facts) {
  return fmt::format("cannot look into process {} ({}): {}", facts.pid, facts.program, reason_of(facts));
}

}  // namespace tarn::observer
