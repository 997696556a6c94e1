#include "profile/run/traced_family.h"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>

#include "observer/files/kernel_text.h"
#include "observer/files/outside_wait.h"
#include "observer/process/attached_process.h"
#include "observer/process/thread_words.h"
#include "system/figures/clock.h"
#include "system/processes/process_tree.h"

namespace tarn::tool {
namespace {

constexpr long kOptions =
    PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
constexpr double kMostSecondsOfStop = 1;

/// \returns 0 when it is gone.
pid_t process_of(pid_t thread) {
  const std::string status = observer::process_text(thread, "status");
  return static_cast<pid_t>(observer::number_in(observer::field_of(status, "Tgid:")));
}

/// Whether the thread ends by itself, and not with its process. \pre it is stopped at its end
bool ends_alone(pid_t thread) {
  return observer::process_text(thread, "syscall").starts_with(fmt::format("{} ", SYS_exit));
}

bool is_stop_of_job_control(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

bool is_set_uid(pid_t process) {
  struct stat info;
  const observer::OutsideWait waiting;
  return stat(fmt::format("/proc/{}/exe", process).c_str(), &info) == 0 &&
         (info.st_mode & (S_ISUID | S_ISGID)) != 0;
}

pid_t number_of_event(pid_t thread) {
  unsigned long number = 0;
  ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &number);
  return static_cast<pid_t>(number);
}

std::string end_in_words(int status) {
  return WIFSIGNALED(status) ? fmt::format("a signal ended it at once ({})", strsignal(WTERMSIG(status)))
                             : "it ended unseen";
}

}  // namespace

std::string TracedProcess::in_words() const { return fmt::format("{} ({})", name, pid); }

bool TracedFamily::begin(pid_t first) {
  first_ = first;
  if (ptrace(PTRACE_SEIZE, first, nullptr, kOptions) != 0) return false;
  threads_[first].process = first;
  Process& process = processes_[first];
  process.told = {first, name_of(first)};
  process.running = {first};
  process.borrows_memory = true;  // the tool's, until it executes its program
  return true;
}

TracedFamily::Thread& TracedFamily::thread_of(pid_t thread) {
  const auto [entry, is_new] = threads_.try_emplace(thread);
  if (!is_new) return entry->second;
  const pid_t known = process_of(thread);
  entry->second.process = known == 0 ? thread : known;
  Process& process = processes_[entry->second.process];
  process.running.insert(thread);
  if (process.told.pid == 0) process.told = {entry->second.process, name_of(thread)};
  return entry->second;
}

void TracedFamily::let_go(pid_t thread, int signal) {
  ptrace(PTRACE_CONT, thread, nullptr, static_cast<long>(signal));
}

void TracedFamily::note(pid_t thread, int status) {
  if (WIFSTOPPED(status))
    note_stop(thread, status);
  else
    note_gone(thread, status);
}

void TracedFamily::note_stop(pid_t thread, int status) {
  const int signal = WSTOPSIG(status), event = status >> 16;
  const bool is_new = !threads_.contains(thread);
  Thread& stopped = thread_of(thread);
  const pid_t process = stopped.process;
  if (event == PTRACE_EVENT_EXIT) return note_exit(thread);
  if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
    note_birth(number_of_event(thread), event == PTRACE_EVENT_VFORK);
  if (event == PTRACE_EVENT_EXEC) note_exec(process);
  if (is_new && event == PTRACE_EVENT_STOP && thread == process && foretold_.erase(thread) == 0) {
    unborn_.insert(thread);
    return;
  }
  if (stopping_ == process) {
    stopped.held_with = event == 0 ? signal : 0;
    return;
  }
  if (event == PTRACE_EVENT_STOP && is_stop_of_job_control(signal))
    ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);
  else
    let_go(thread, event == 0 ? signal : 0);
}

// The child's first stop may come before or after its parent's.
void TracedFamily::note_birth(pid_t child, bool borrows_memory) {
  if (unborn_.erase(child) == 0) {
    if (process_of(child) != child) return;  // a thread, or gone
    foretold_.insert(child);
  }
  Process& process = processes_[child];
  if (process.told.pid == 0) process.told = {child, name_of(child)};
  process.borrows_memory = borrows_memory;
  if (!borrows_memory) begin_process(process, Begins::kByFork);
  if (threads_.contains(child)) let_go(child, 0);
}

void TracedFamily::begin_process(Process& process, Begins begins) {
  if (hooks_.on_begin) hooks_.on_begin(process.told, begins);
}

// Its other threads are gone without a word.
void TracedFamily::note_exec(pid_t pid) {
  Process& process = processes_[pid];
  std::erase_if(threads_,
                [&](const auto& entry) { return entry.second.process == pid && entry.first != pid; });
  process.running = {pid};
  process.is_leader_held = process.borrows_memory = false;
  process.told.name = name_of(pid);
  if (is_set_uid(pid))
    result_.remarks.push_back(fmt::format(
        "{} is set-uid, and was looked at: it ran without the rights of its owner", process.told.in_words()));
  begin_process(process, Begins::kByExec);
}

void TracedFamily::note_exit(pid_t thread) {
  Process& process = processes_[threads_[thread].process];
  process.running.erase(thread);
  const pid_t pid = process.told.pid;
  if (!process.running.empty()) {
    process.is_leader_held = thread == pid && !ends_alone(thread);
    if (!process.is_leader_held) let_go(thread, 0);
    return;
  }
  look_at(process, process.is_leader_held ? pid : thread);
  if (process.is_leader_held) let_go(pid, 0);
  process.is_leader_held = false;
  let_go(thread, 0);
}

void TracedFamily::note_gone(pid_t thread, int status) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return;
  const pid_t pid = found->second.process;
  threads_.erase(found);
  unborn_.erase(thread);
  Process& process = processes_[pid];
  process.running.erase(thread);
  if (process.is_leader_held && process.running.empty()) {
    look_at(process, pid);
    process.is_leader_held = false;
    let_go(pid, 0);
  }
  if (thread == pid) finish(process, status);
}

void TracedFamily::finish(Process& process, int status) {
  const pid_t pid = process.told.pid;
  if (pid == first_) first_status_ = status;
  if (!process.was_looked_at && !process.borrows_memory)
    result_.unseen.push_back(
        {process.told, process.why_unseen.empty() ? end_in_words(status) : process.why_unseen});
  std::erase_if(threads_, [&](const auto& entry) { return entry.second.process == pid; });
  processes_.erase(pid);
}

void TracedFamily::look_at(Process& process, pid_t by, const std::vector<observer::Address>* registers) {
  if (process.borrows_memory || process.was_looked_at) return;
  try {
    const std::unique_ptr<observer::Source> source = observer::open_started_process(by);
    at_end_(*source, process.told,
            registers != nullptr ? *registers : observer::call_words(observer::running_process(*source)));
    process.was_looked_at = true;
  } catch (const std::exception& error) {
    process.why_unseen = error.what();
  }
}

// \returns false when a thread does not stop in time, or the process ends.
bool TracedFamily::stop_all_of(pid_t pid) {
  stopping_ = pid;
  const timespec began = now();
  const auto is_running = [&](const auto& entry) {
    return entry.second.process == pid && !entry.second.held_with;
  };
  for (;;) {
    for (auto& [thread, state] : threads_)
      if (state.process == pid && !state.held_with) ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    int status = 0;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL | WNOHANG)) > 0;) note(thread, status);
    if (!processes_.contains(pid)) return false;
    if (std::none_of(threads_.begin(), threads_.end(), is_running)) return true;
    if (seconds_since(began) > kMostSecondsOfStop) return false;
    const timespec pause = {0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

void TracedFamily::look_and_leave(pid_t pid) {
  const bool is_stopped = stop_all_of(pid);
  stopping_ = 0;
  if (!processes_.contains(pid)) return;
  Process& process = processes_[pid];
  process.told.runs_on = true;
  std::vector<observer::Address> words;
  for (const auto& [thread, state] : threads_)
    if (state.process == pid && state.held_with) observer::append_registers(thread, words);
  process.why_unseen = "it runs on, and did not stop to be looked at";
  if (is_stopped) look_at(process, pid, &words);
  for (const auto& [thread, state] : threads_)
    if (state.process == pid)
      ptrace(PTRACE_DETACH, thread, nullptr, static_cast<long>(state.held_with.value_or(0)));
  finish(process, 0);
}

void TracedFamily::look_at_the_rest() {
  while (!processes_.empty()) look_and_leave(processes_.begin()->first);
}

RunToEnd TracedFamily::result() {
  result_.status = first_status_.value_or(0);
  return std::move(result_);
}

}  // namespace tarn::tool
