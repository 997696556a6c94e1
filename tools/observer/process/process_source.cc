// A running process as a source, and the own one.
//
// The process is not stopped and runs no code; its descriptors are AttachedProcess's. When it ends or runs
// another program, reads return nothing, also when its number is given to another one.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "observer/files/elf_headers.h"
#include "observer/files/input_file.h"
#include "observer/files/kernel_text.h"
#include "observer/process/attached_process.h"
#include "observer/process/maps_parser.h"
#include "observer/process/source.h"

namespace tarn::observer {
namespace {

class ProcessSource final : public Source {
 public:
  ProcessSource(int pid, Access access, OtherUser others = OtherUser::kIsBecome)
      : process_(pid, access, others) {
    refresh();
    require_own_machine();
  }

  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    return process_.read(address, into, bytes);
  }
  std::span<const Mapping> mappings() const override { return mappings_; }
  SourceKind kind() const override { return SourceKind::kProcess; }
  int pid() const override { return process_.pid(); }
  std::string program() const override { return process_.program(); }
  AttachedProcess& process() const { return process_; }

  void refresh() override {
    mappings_ = parse_maps(process_.text("maps").value_or(""));
    if (!is_memory_there()) fail("has ended or runs another program now: name it again");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ObserveError(fmt::format("process {} ({}) {}", pid(), program(), what));
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
    const InputFile program = process_.open("exe");
    if (!program.is_open() || !program.read_all(0, &header, sizeof header) || !is_elf(header)) return;
    if (const std::string obstacle = machine_obstacle(header); !obstacle.empty()) fail(obstacle);
  }

  mutable AttachedProcess process_;
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
  std::string program() const override {
    return program_name(InputFile("/proc/self", O_PATH | O_DIRECTORY).descriptor());
  }

  void refresh() override {
    mappings_ = parse_maps(read_kernel_text("/proc/self/maps").value_or(""));
    if (mappings_.empty()) throw ObserveError("cannot read /proc/self/maps: mount /proc");
  }

 private:
  std::vector<Mapping> mappings_;
};

}  // namespace

AttachedProcess* process_of(const Source& source) {
  const auto* const running = dynamic_cast<const ProcessSource*>(&source);
  return running != nullptr ? &running->process() : nullptr;
}

AttachedProcess& running_process(const Source& source) {
  if (AttachedProcess* const process = process_of(source)) return *process;
  throw ObserveError(
      fmt::format("{} is no running process: nothing can be switched there", source.program()));
}

InputFile kernel_file(const Source& source, const std::string& name) {
  if (const AttachedProcess* const process = process_of(source)) return process->open(name);
  return source.kind() == SourceKind::kOwn ? InputFile("/proc/self/" + name) : InputFile();
}

InputFile file_of(const Source& source, const std::string& path) {
  const AttachedProcess* const process = process_of(source);
  return process != nullptr ? process->open_file_of(path) : open_regular_file(path);
}

std::unique_ptr<Source> open_process(int pid) { return std::make_unique<ProcessSource>(pid, Access::kRead); }

std::unique_ptr<Source> open_process_to_switch(int pid) {
  return std::make_unique<ProcessSource>(pid, Access::kWrite);
}

std::unique_ptr<Source> open_started_process(int pid, Access access) {
  return std::make_unique<ProcessSource>(pid, access, OtherUser::kIsRefused);
}

std::unique_ptr<Source> open_own_process() { return std::make_unique<OwnSource>(); }

}  // namespace tarn::observer
