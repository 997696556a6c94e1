#include "observer/process/thread_words.h"

#include <elf.h>
#include <errno.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "observer/files/elf_file.h"

namespace tarn::observer {
namespace {

constexpr std::size_t kMostRegisterWords = 128;
constexpr int kMostWaits = 1000;  // of 100 us each

std::vector<int> threads_of(const AttachedProcess& process) {
  std::vector<int> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(process.directory_path() + "/task", error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc{})
      threads.push_back(number);
  }
  return threads;
}

/// \returns the status that waitpid gave; nothing if the thread does not stop.
std::optional<int> wait_for_stop(int thread) {
  for (int i = 0; i < kMostWaits; ++i) {
    int status = 0;
    const int got = waitpid(thread, &status, __WALL | WNOHANG);
    if (got == thread) return WIFSTOPPED(status) ? std::optional(status) : std::nullopt;
    if (got < 0 && errno != EINTR) return std::nullopt;
    const timespec pause = {0, 100'000};
    nanosleep(&pause, nullptr);
  }
  return std::nullopt;
}

/// A signal that arrived in the same moment is handed on.
int signal_to_hand_on(int status) { return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status); }

void let_go(int thread, int status) {
  ptrace(PTRACE_DETACH, thread, nullptr, static_cast<long>(signal_to_hand_on(status)));
}

enum class Stop { kStopped, kEnded, kRefused };

/// \param status of the stop, as waitpid gave it.
Stop stop_thread(const AttachedProcess& process, int thread, int* status) {
  if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    if (errno == ESRCH) return Stop::kEnded;
    throw ObserveError(
        fmt::format("process {} cannot be stopped ({}): is a debugger attached? Look without --stop",
                    process.pid(), std::strerror(errno)));
  }
  // Its number cannot be used again now: it is a thread of the process, or was used again before.
  if (!process.open(fmt::format("task/{}/stat", thread)).is_open()) {
    ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    if (const std::optional<int> stopped = wait_for_stop(thread)) let_go(thread, *stopped);
    return Stop::kEnded;
  }
  if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0)
    return errno == ESRCH ? Stop::kEnded : Stop::kRefused;
  const std::optional<int> stopped = wait_for_stop(thread);
  if (!stopped) return Stop::kRefused;
  *status = *stopped;
  return Stop::kStopped;
}

/// \returns whether the thread's registers were read, or it has ended.
bool read_stopped_thread(const AttachedProcess& process, int thread, std::vector<Address>& words) {
  int status = 0;
  const Stop stop = stop_thread(process, thread, &status);
  if (stop != Stop::kStopped) return stop == Stop::kEnded;
  append_registers(thread, words);
  let_go(thread, status);
  return true;
}

/// The threads of a process that are stopped now.
class StoppedAll {
 public:
  ~StoppedAll() {
    for (const auto& [thread, status] : threads_) let_go(thread, status);
  }

  /// \returns whether all threads are stopped. One that is still running may have made more meanwhile.
  bool stop(const AttachedProcess& process) {
    constexpr int kMostRounds = 20;
    for (int round = 0; round < kMostRounds; ++round) {
      bool is_new = false;
      for (const int thread : threads_of(process)) {
        if (threads_.contains(thread)) continue;
        is_new = true;
        int status = 0;
        const Stop stop = stop_thread(process, thread, &status);
        if (stop == Stop::kRefused) return false;
        if (stop == Stop::kStopped) threads_[thread] = status;
      }
      if (!is_new) return true;
    }
    return false;
  }

 private:
  std::map<int, int> threads_;  // with the status of its stop
};

/// The words of one note's registers: all of its content, as some of it are registers.
void append_note(const std::byte* content, std::size_t bytes, std::vector<Address>& words) {
  for (std::size_t at = 0; at + sizeof(Address) <= bytes; at += sizeof(Address)) {
    Address word;
    std::memcpy(&word, content + at, sizeof word);
    words.push_back(word);
  }
}

void append_notes(Elf_Data* notes, std::vector<Address>& words) {
  GElf_Nhdr note;
  std::size_t name = 0, content = 0;
  for (std::size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &content)) > 0;)
    if (note.n_type == NT_PRSTATUS)
      append_note(static_cast<const std::byte*>(notes->d_buf) + content, note.n_descsz, words);
}

}  // namespace

void append_registers(int thread, std::vector<Address>& words) {
  std::array<Address, kMostRegisterWords> registers;
  iovec whole = {registers.data(), sizeof registers};
  if (ptrace(PTRACE_GETREGSET, thread, reinterpret_cast<void*>(NT_PRSTATUS), &whole) == 0)
    words.insert(words.end(), registers.begin(),
                 registers.begin() + static_cast<std::ptrdiff_t>(whole.iov_len / sizeof(Address)));
}

std::vector<Address> call_words(const AttachedProcess& process) {
  std::vector<Address> words;
  for (const int thread : threads_of(process)) {
    std::istringstream call(process.text(fmt::format("task/{}/syscall", thread)).value_or(""));
    std::string word;
    // The call's number, its arguments, the stack pointer and where it was called; or "running".
    while (call >> word)
      if (word.starts_with("0x")) words.push_back(std::strtoull(word.c_str(), nullptr, 16));
  }
  return words;
}

StoppedThreads stopped_thread_words(const AttachedProcess& process) {
  StoppedThreads stopped;
  for (const int thread : threads_of(process))
    if (!read_stopped_thread(process, thread, stopped.words)) ++stopped.unseen;
  return stopped;
}

void while_stopped(const AttachedProcess& process, const std::function<void()>& use) {
  StoppedAll stopped;
  if (!stopped.stop(process))
    throw ObserveError(
        fmt::format("process {} has a thread that does not stop: look without --stop", process.pid()));
  use();
}

std::vector<Address> core_file_words(const std::string& path) {
  std::vector<Address> words;
  const ElfFile file(path);
  std::size_t count = 0;
  if (file.get() == nullptr || elf_getphdrnum(file.get(), &count) != 0) return words;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(file.get(), static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_NOTE)
      continue;
    Elf_Data* const notes = elf_getdata_rawchunk(file.get(), static_cast<std::int64_t>(segment.p_offset),
                                                 segment.p_filesz, ELF_T_NHDR);
    if (notes != nullptr) append_notes(notes, words);
  }
  return words;
}

}  // namespace tarn::observer
