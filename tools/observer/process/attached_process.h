// A running process that a command looks into: the only holder of its descriptors, from the first look to the
// last write.
//
// The idea: a number names a process only until it ends, and a process is a program only until it runs
// another one. So the number is used once, for a descriptor of /proc/PID, which stays with the process; all
// its files are opened there. And its memory is opened once, for reading and, where a command writes, for
// writing: that descriptor stays with the address space. A process that runs another program meanwhile, also
// a set-user one, has left it: what is written then goes nowhere.
//
// Who the process is, is looked up before its memory is opened and again afterwards. Where this tool has more
// rights than the process's user, it gives them up then, for good, and only then reads what that user may
// have forged. Where that user may open the memory by himself, that descriptor is taken: there the kernel has
// checked all at once.
// Decision: docs/decisions/035-tools-write-through-one-descriptor.md.
//
// Threads: read() from any; the rest one at a time.
#pragma once
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "observer/files/input_file.h"
#include "observer/process/source.h"

namespace tarn::observer {

// -- Who a process is, as the kernel tells it at one moment ----------------------------------------------
//
// Two equal answers, one before and one after a descriptor was opened, say that the descriptor is of what was
// looked at.

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

// -- The process -----------------------------------------------------------------------------------------

/// What a command does with the memory of a process. A few words are written, to switch what is watched.
enum class Access : std::uint8_t { kRead, kWrite };

/// What happens where the process belongs to another user than this tool's.
enum class OtherUser : std::uint8_t { kIsBecome, kIsRefused };

class AttachedProcess {
 public:
  /// \post where the process belongs to another user than this tool's, the tool has only the rights of that
  /// one. \throws ObserveError: no such process, no right to look (and what gives it), or with Access::kWrite
  /// one that may have more rights than its user.
  AttachedProcess(int pid, Access access, OtherUser other = OtherUser::kIsBecome);

  int pid() const { return pid_; }
  /// As `ps` shows it; printable.
  const std::string& program() const { return program_; }

  std::size_t read(Address address, void* into, std::size_t bytes) const {
    return memory_.read(address, into, bytes);
  }
  /// \throws ObserveError when the process has ended, runs another program, or became somebody else.
  void write(Address address, const void* bytes, std::size_t count);

  /// A file of its directory in /proc, like "status" or "task/12/syscall"; maps, smaps and pagemap are those
  /// of the address space that was opened. is_open() tells whether there is one, and the right.
  InputFile open(const std::string& name) const;
  std::optional<std::string> text(const std::string& name) const;
  /// Of /proc/PID, with O_PATH.
  int directory() const { return directory_.descriptor(); }
  /// The same as a path, good while this object is there.
  std::string directory_path() const { return fmt::format("/proc/self/fd/{}", directory()); }

  /// A regular file as the process sees it: in its mount namespace, below its root, whatever links lead to.
  /// Nothing else is opened, no pipe, device or magic link; is_open() tells. May wait for the file system.
  InputFile open_file_of(const std::string& path) const;

 private:
  void require_memory() const;
  void open_all(Access access);
  void take_rights_of(unsigned user, Access access);
  void require_same_identity() const;
  [[noreturn]] void fail(const std::string& what) const;

  int pid_;
  InputFile directory_;
  std::string program_;
  InputFile memory_, maps_, smaps_, pagemap_, root_;
  ProcessIdentity identity_;
  bool has_written_ = false;
};

/// As open_process(), and the memory may be written: where the process belongs to another user, this tool has
/// only the rights of that one afterwards. Open before what else the tool needs.
std::unique_ptr<Source> open_process_to_switch(int pid);

/// Of a process that this tool has started. \throws ObserveError as open_process(), and where it became
/// another user's: the tool needs its rights for other processes.
std::unique_ptr<Source> open_started_process(int pid, Access access = Access::kRead);

/// \returns nullptr: the source is no other process that runs.
AttachedProcess* process_of(const Source& source);
/// \throws ObserveError: the source is no process that can be switched.
AttachedProcess& running_process(const Source& source);
/// A file of its directory in /proc; not open where the source is no process, or there is no right.
InputFile kernel_file(const Source& source, const std::string& name);
/// A file that a program has mapped, as the program sees it; not open where there is no regular file.
InputFile file_of(const Source& source, const std::string& path);

}  // namespace tarn::observer
