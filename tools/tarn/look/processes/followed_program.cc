#include "look/processes/followed_program.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "look/processes/observation.h"
#include "look/processes/processes.h"
#include "observer/records/bounds.h"
#include "observer/text/printable.h"
#include "profile/symbols/reader_process.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

std::string words_of_end(int number) { return fmt::format("process {} has ended", number); }

}  // namespace

bool is_reader_left() {
  pid_t ended = 0;
  do ended = waitpid(-1, nullptr, WNOHANG);
  while (ended > 0);
  return ended == 0;
}

FollowedProgram::FollowedProgram(const Target& target)
    : target_(target), number_(process_number(target.name_or_pid)) {
  if (!target.core_file.empty() || target.name_or_pid.empty())
    throw UsageError("name the process to look at again and again: PID or NAME, or --cgroup PATH");
  if (number_ != 0) process_ = observer::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, number_, 0)));
}

/// \why the process is asked for after it was opened: while it runs, no other one has its number
std::string FollowedProgram::look_in_reader(const Tell& tell) const {
  const std::unique_ptr<observer::Source> source = open_target(target_);
  if (has_ended()) throw observer::ObserveError(words_of_end(number_));
  return tell(look_at(*source, nullptr));
}

bool FollowedProgram::has_ended() const {
  pollfd end{process_.get(), POLLIN, 0};
  return poll(&end, 1, 0) != 0;
}

FollowedProgram::Answer FollowedProgram::look(const Tell& tell) const {
  if (has_ended()) return {false, words_of_end(number_)};
  if (is_reader_left()) return {false, "a file system that holds the program's files does not answer", true};
  // The reader writes an empty line, the text, and an empty line; or a line that says what went wrong.
  profile::ReaderProcess reader([&](const auto& write) {
    try {
      const std::string text = look_in_reader(tell);
      write("\n" + text);
    } catch (const std::bad_alloc&) {
      write(observer::Bounds::refusal());
    } catch (const std::exception& error) {
      write(observer::printable(error.what()));
    }
  });
  std::optional<std::string> line = reader.next_line(kLookSeconds);
  if (line && !line->empty()) return {false, *line};
  std::string text;
  while (line && text.size() < kMostTextBytes) {
    line = reader.next_line(kLookSeconds);
    if (line && line->empty()) return {true, text};
    if (line) text += *line + '\n';
  }
  return {false, fmt::format("{} gave no answer: `tarn top` may say why", target_.name_or_pid), true};
}

FollowedProgram::Answer FollowedProgram::first_look(const Tell& tell) const {
  Answer answer = look(tell);
  if (!answer.is_up && number_ != 0) throw observer::ObserveError(answer.text);
  return answer;
}

}  // namespace tarn::tool
