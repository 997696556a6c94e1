#include "observer/process/attached_process.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

#include "observer/files/kernel_text.h"
#include "observer/files/outside_wait.h"
#include "observer/process/refusal.h"

namespace tarn::observer {
namespace {

std::array<unsigned, 4> numbers_of(std::string_view line) {
  std::array<unsigned, 4> numbers{};
  std::istringstream words{std::string(line)};
  for (unsigned& number : numbers) words >> number;
  return numbers;
}

/// \why no question to the server of a file system for the numbers: it need not answer. For attributes it is
/// asked, and waited for.
ProgramFile program_file_of(int directory) {
  const InputFile program("exe", O_PATH, directory);
  struct statx status {};
  constexpr int kOfDescriptor = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (!program.is_open() ||
      statx(program.descriptor(), "", kOfDescriptor, STATX_MODE | STATX_INO, &status) != 0)
    return {};
  const std::string path = fmt::format("/proc/self/fd/{}", program.descriptor());
  const OutsideWait waiting;
  return {std::uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor, status.stx_ino,
          (status.stx_mode & (S_ISUID | S_ISGID)) != 0 ||
              getxattr(path.c_str(), "security.capability", nullptr, 0) > 0};
}

bool is_one(const std::array<unsigned, 4>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [&](unsigned one) { return one == numbers[0]; });
}

constexpr const char* kHasEnded = "has ended: name one that runs, or its core file";

int flags_for(Access access) { return access == Access::kWrite ? O_RDWR : O_RDONLY; }

/// A user that the process belongs to, and not this tool.
std::optional<unsigned> other_user(const ProcessIdentity& identity) {
  for (const unsigned user : identity.users)
    if (user != geteuid()) return user;
  return std::nullopt;
}

}  // namespace

// A program that has begun as root and became its user for good hides its memory too; its file gives nothing.
bool ProcessIdentity::may_be_privileged() const {
  const bool hides_memory = memory_owner != users[1];
  return !is_one(users) || !is_one(groups) || (hides_memory && (program.gives_rights || program.number == 0));
}

std::optional<ProcessIdentity> read_identity(int directory) {
  const std::string status = read_kernel_text("status", directory).value_or("");
  struct stat memory {};
  if (status.empty() || fstatat(directory, "mem", &memory, 0) != 0) return std::nullopt;
  ProcessIdentity identity;
  identity.users = numbers_of(field_of(status, "Uid:"));
  identity.groups = numbers_of(field_of(status, "Gid:"));
  identity.start_ticks = number_in(word_of_stat(read_kernel_text("stat", directory).value_or(""), 22));
  identity.memory_owner = memory.st_uid;
  identity.program = program_file_of(directory);
  return identity;
}

AttachedProcess::AttachedProcess(int pid, Access access, OtherUser others)
    : pid_(pid), directory_(fmt::format("/proc/{}", pid), O_PATH | O_DIRECTORY) {
  if (pid <= 0 || !directory_.is_open())
    throw ObserveError(fmt::format("there is no process {}: `ps -e` lists those there are", pid));
  program_ = program_name(directory());
  require_memory();
  const std::optional<ProcessIdentity> identity = read_identity(directory());
  if (!identity) fail(kHasEnded);
  identity_ = *identity;
  const RefusalFacts facts = gather_refusal_facts(pid_, program_, identity_.users, identity_.memory_owner);
  open_all(access);
  const int error = memory_.is_open() ? 0 : errno;
  require_same_identity();
  if (const std::optional<unsigned> other = other_user(identity_)) {
    if (access == Access::kWrite && memory_.is_open() && identity_.may_be_privileged())
      fail(
          "may have rights that its user has not (set-uid, set-gid, capabilities), so nothing is written "
          "there: tarn top, heap and map read it");
    if (others == OtherUser::kIsRefused && memory_.is_open() && has_capabilities())
      fail(fmt::format("belongs to user {}: a tool that is told its number looks with that user's rights",
                       *other));
    take_rights_of(*other, access);
  }
  if (memory_.is_open()) return;
  if (error == EACCES || error == EPERM) throw ObserveError(explain_refusal(facts));
  if (error == ENOENT || error == ESRCH) fail(kHasEnded);
  fail(fmt::format("does not let its memory be opened: {}", std::strerror(error)));
}

void AttachedProcess::fail(const std::string& what) const {
  throw ObserveError(fmt::format("process {} ({}) {}", pid_, program_, what));
}

void AttachedProcess::require_memory() const {
  const std::string status = text("status").value_or("");
  const std::string_view state = field_of(status, "State:");
  if (state.empty() || state[0] == 'Z' || state[0] == 'X') fail(kHasEnded);
  if (field_of(status, "VmSize:").empty()) fail("is a thread of the kernel: name a program");
}

// Opens what is not open yet. \post where the memory is not, errno says why
void AttachedProcess::open_all(Access access) {
  const auto open_one = [this](InputFile& file, const char* name, int flags = 0) {
    if (!file.is_open()) file = InputFile(name, flags, directory());
  };
  open_one(maps_, "maps");
  open_one(smaps_, "smaps");
  open_one(pagemap_, "pagemap");
  open_one(root_, "root", O_PATH | O_DIRECTORY);
  open_one(memory_, "mem", flags_for(access));
}

// \why what was opened before stays: the process may hide its memory from its own user, as daemons do that
// have begun as root.
void AttachedProcess::take_rights_of(unsigned user, Access access) {
  if (!has_capabilities()) return;
  if (geteuid() != 0) return give_up_capabilities();
  become_user(user, identity_.groups[0]);
  open_all(access);
  if (InputFile own("mem", flags_for(access), directory()); own.is_open()) memory_ = std::move(own);
}

void AttachedProcess::require_same_identity() const {
  std::optional<ProcessIdentity> now = read_identity(directory());
  if (now && now->program.number == 0) now->program = identity_.program;
  if (!now || !(*now == identity_))
    fail("has ended, or changed its program or user meanwhile: name it again");
}

void AttachedProcess::write(Address address, const void* bytes, std::size_t count) {
  if (!std::exchange(has_written_, true)) require_same_identity();
  errno = 0;
  if (pwrite(memory_.descriptor(), bytes, count, static_cast<off_t>(address)) == static_cast<ssize_t>(count))
    return;
  fail(fmt::format("could not be switched: {}",
                   errno == EIO || errno == 0 ? "it has ended" : std::strerror(errno)));
}

InputFile AttachedProcess::open(const std::string& name) const {
  for (const auto& [held, file] : {std::pair("maps", &maps_), {"smaps", &smaps_}, {"pagemap", &pagemap_}})
    if (name == held) return file->duplicate();
  return InputFile(name, 0, directory());
}

std::optional<std::string> AttachedProcess::text(const std::string& name) const {
  return read_kernel_text(open(name));
}

InputFile AttachedProcess::open_file_of(const std::string& path) const {
  if (!root_.is_open()) return {};
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const OutsideWait waiting;
  return open_regular_place(
      InputFile(static_cast<int>(syscall(SYS_openat2, root_.descriptor(), path.c_str(), &how, sizeof how))));
}

}  // namespace tarn::observer
