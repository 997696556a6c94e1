#include "observer/process/rights.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "observer/process/source.h"

namespace tarn::observer {
namespace {

bool has_become(unsigned user, unsigned group) {
  uid_t real = 0, effective = 0, saved = 0;
  gid_t real_group = 0, effective_group = 0, saved_group = 0;
  return getresuid(&real, &effective, &saved) == 0 && real == user && effective == user && saved == user &&
         getresgid(&real_group, &effective_group, &saved_group) == 0 && real_group == group &&
         effective_group == group && saved_group == group;
}

}  // namespace

void become_user(unsigned user, unsigned group) {
  const gid_t only = group;
  if (setgroups(1, &only) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0 ||
      !has_become(user, group))
    throw ObserveError(
        fmt::format("cannot take the rights of user {} ({}), and does not look into its "
                    "processes with more: run tarn as that user",
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
