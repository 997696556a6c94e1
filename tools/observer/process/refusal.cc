#include "observer/process/refusal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <sstream>

#include "observer/files/kernel_text.h"

namespace tarn::observer {
namespace {

struct Users {
  unsigned real = 0, effective = 0, saved = 0;
};

Users users_of(const std::string& status) {
  Users users;
  std::istringstream(std::string(field_of(status, "Uid:"))) >> users.real >> users.effective >> users.saved;
  return users;
}

unsigned first_other_than(unsigned own, const Users& users) {
  for (const unsigned user : {users.effective, users.real, users.saved})
    if (user != own) return user;
  return own;
}

// The kernel gives the files of a process that is not dumpable to root.
bool is_dumpable(int directory, unsigned effective_user) {
  struct stat memory {};
  return fstatat(directory, "mem", &memory, 0) != 0 || memory.st_uid == effective_user;
}

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

RefusalFacts gather_refusal_facts(int directory, int pid, std::string program) {
  RefusalFacts facts;
  facts.pid = pid;
  facts.program = std::move(program);
  facts.own_user = geteuid();
  const Users users = users_of(read_kernel_text("status", directory).value_or(""));
  facts.its_user = first_other_than(facts.own_user, users);
  facts.is_dumpable = is_dumpable(directory, users.effective);
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
