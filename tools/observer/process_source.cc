// A running process as a source, and the own one.
//
// A process is read through one descriptor of /proc/PID/mem, which the kernel checks once, when it is opened:
// later reads cost a call and no check, and work also when this tool has given up its rights meanwhile. The
// process is not stopped and runs no code. The descriptor keeps the address space it was opened on: when the
// process ends or runs another program, reads return nothing, also when its number is given to another one.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "elf_machine.h"
#include "input_file.h"
#include "kernel_text.h"
#include "maps_parser.h"
#include "refusal.h"
#include "source.h"

namespace tarn::observer {
namespace {

// The kernel cuts the name after 15 characters; the file's name has all of it, where that is what was run.
std::string program_name(int pid) {
  std::string name = read_kernel_text(fmt::format("/proc/{}/comm", pid)).value_or("");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  char path[4096];
  const ssize_t length = readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  std::string file = base_name({path, length > 0 ? static_cast<std::size_t>(length) : 0});
  if (constexpr std::string_view kNote = " (deleted)"; file.ends_with(kNote))  // replaced by an update
    file.resize(file.size() - kNote.size());
  return printable(name.size() == 15 && file.starts_with(name) ? file : name);
}

class ProcessSource final : public Source {
 public:
  explicit ProcessSource(int pid)
      : pid_(pid),
        directory_(fmt::format("/proc/{}", pid), O_PATH | O_DIRECTORY),
        program_(program_name(pid)) {
    if (pid <= 0 || !directory_.is_open()) fail("there is no process {}: `ps -e` lists those there are", pid);
    require_memory();
    memory_ = InputFile("mem", 0, directory_.descriptor());
    if (!memory_.is_open()) fail_to_open(errno);
    refresh();
    require_own_machine();
  }

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    return memory_.read(address, into, bytes);
  }
  std::span<const Mapping> mappings() const override { return mappings_; }
  SourceKind kind() const override { return SourceKind::kProcess; }
  int pid() const override { return pid_; }
  std::string program() const override { return program_; }

  void refresh() override {
    mappings_ = parse_maps(read_kernel_text("maps", directory_.descriptor()).value_or(""));
    if (!is_memory_there())
      fail("process {} ({}) has ended or runs another program now: name it again", pid_, program_);
  }

 private:
  template <typename... Values>
  [[noreturn]] static void fail(fmt::format_string<const Values&...> text, const Values&... values) {
    throw ObserveError(fmt::format(text, values...));
  }

  void require_memory() const {
    const std::string status = read_kernel_text("status", directory_.descriptor()).value_or("");
    const std::string_view state = field_of(status, "State:");
    if (state.empty() || state[0] == 'Z' || state[0] == 'X')
      fail("process {} ({}) has ended: name one that runs, or its core file", pid_, program_);
    if (field_of(status, "VmSize:").empty())
      fail("process {} ({}) is a thread of the kernel: name a program", pid_, program_);
  }

  [[noreturn]] void fail_to_open(int error) const {
    if (error == EACCES || error == EPERM)
      throw ObserveError(explain_refusal(gather_refusal_facts(pid_, program_)));
    if (error == ENOENT || error == ESRCH)
      fail("process {} ({}) has ended: name one that runs, or its core file", pid_, program_);
    fail("cannot open /proc/{}/mem: {}", pid_, std::strerror(error));
  }

  // \why the stack first: its end is backed, so that looking makes no page fault in the process.
  bool is_memory_there() const {
    char byte;
    const auto can_read = [&](const Mapping& mapping) {
      return mapping.is_readable && read_all(mapping.end - 1, &byte, 1);
    };
    const auto is_stack = [](const Mapping& mapping) { return mapping.path == "[stack]"; };
    const auto stack = std::find_if(mappings_.begin(), mappings_.end(), is_stack);
    return (stack != mappings_.end() && can_read(*stack)) ||
           std::any_of(mappings_.begin(), mappings_.end(), can_read);
  }

  // \why not from memory alone: a program may have mapped ELF files of other machines.
  void require_own_machine() const {
    Elf64_Ehdr header{};
    const InputFile program("exe", 0, directory_.descriptor());
    if (!program.is_open() || !program.read_all(0, &header, sizeof header) || !is_elf(header)) return;
    if (const std::string obstacle = machine_obstacle(header); !obstacle.empty())
      fail("process {} ({}) {}", pid_, program_, obstacle);
  }

  int pid_;
  InputFile directory_;
  std::string program_;
  InputFile memory_;
  std::vector<Mapping> mappings_;
};

// \why not /proc/self/mem: that cannot be opened where the process is not dumpable, and a forked child would
// read its parent.
class OwnSource final : public Source {
 public:
  OwnSource() { refresh(); }

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    std::size_t done = 0;
    // Where memory ends within the range the kernel may stop at the page before.
    while (done < bytes) {
      const iovec rest{static_cast<char*>(into) + done, bytes - done};
      const iovec from{reinterpret_cast<void*>(address + done), bytes - done};
      const ssize_t part = process_vm_readv(getpid(), &rest, 1, &from, 1, 0);
      if (part <= 0) break;
      done += static_cast<std::size_t>(part);
    }
    return done;
  }
  std::span<const Mapping> mappings() const override { return mappings_; }
  SourceKind kind() const override { return SourceKind::kOwn; }
  int pid() const override { return getpid(); }
  std::string program() const override { return program_name(getpid()); }

  void refresh() override {
    mappings_ = parse_maps(read_kernel_text("/proc/self/maps").value_or(""));
    if (mappings_.empty()) throw ObserveError("cannot read /proc/self/maps: mount /proc");
  }

 private:
  std::vector<Mapping> mappings_;
};

}  // namespace

std::unique_ptr<Source> open_process(int pid) { return std::make_unique<ProcessSource>(pid); }

std::unique_ptr<Source> open_own_process() { return std::make_unique<OwnSource>(); }

}  // namespace tarn::observer
