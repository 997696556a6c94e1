#include "observer/process/refusal.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "observer/files/kernel_text.h"
#include "observer/process/source.h"

namespace tarn::observer {
namespace {

std::string reason_of(const RefusalFacts& facts) {
  if (facts.ptrace_scope >= 3)
    return "nobody may look into processes since kernel.yama.ptrace_scope is 3: set it to 1 in /etc/sysctl.d "
           "and reboot";
  if (facts.has_ptrace_right)
    return "a user namespace, a container or a security module (AppArmor, SELinux) forbids it: run tarn as "
           "root on the host";
  if (facts.own_user == 0)
    return "root has no CAP_SYS_PTRACE here: start the container with --cap-add=SYS_PTRACE, or run tarn on "
           "the host";
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
           "by `tarn run`";
  return "it has capabilities that you have not, or a security module forbids it: run tarn as root";
}

bool has_become(unsigned user, unsigned group) {
  uid_t real = 0, effective = 0, saved = 0;
  gid_t real_group = 0, effective_group = 0, saved_group = 0;
  return getresuid(&real, &effective, &saved) == 0 && real == user && effective == user && saved == user &&
         getresgid(&real_group, &effective_group, &saved_group) == 0 && real_group == group &&
         effective_group == group && saved_group == group;
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

void become_user(unsigned user, unsigned group) {
  const gid_t only = group;
  if (setgroups(1, &only) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0 ||
      !has_become(user, group))
    throw ObserveError(
        fmt::format("cannot take the rights of user {} ({}), and does not look into its processes with more: "
                    "run tarn as that user",
                    user, std::strerror(errno)));
  give_up_capabilities();
}

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capget, &header, sets) == 0 && (sets[0].permitted | sets[1].permitted) != 0;
}

void give_up_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    throw ObserveError(fmt::format("cannot give its rights up: {}", std::strerror(errno)));
}

}  // namespace tarn::observer
