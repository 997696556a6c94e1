#include "process_identity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "input_file.h"
#include "kernel_text.h"
#include "outside_wait.h"

namespace tarn::observer {
namespace {

std::array<unsigned, 4> numbers_of(std::string_view line) {
  std::array<unsigned, 4> numbers{};
  std::istringstream words{std::string(line)};
  for (unsigned& number : numbers) words >> number;
  return numbers;
}

/// The 22nd word of /proc/PID/stat. \why behind the last bracket: a name may hold blanks and brackets.
std::uint64_t start_ticks_of(const std::string& text) {
  constexpr int kWordsBehindName = 22 - 2;
  const std::size_t name_end = text.rfind(')');
  std::istringstream words(name_end == std::string::npos ? "" : text.substr(name_end + 1));
  std::string word;
  for (int i = 0; i < kWordsBehindName; ++i) words >> word;
  return number_in(word);
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
  identity.start_ticks = start_ticks_of(read_kernel_text("stat", directory).value_or(""));
  identity.memory_owner = memory.st_uid;
  identity.program = program_file_of(directory);
  return identity;
}

}  // namespace tarn::observer
