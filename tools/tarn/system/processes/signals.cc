// Signals read from a signalfd.
#include "system/processes/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tarn::tool {
namespace {

bool is_ignored(int signal_number) {
  struct sigaction action = {};
  return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalWatch::SignalWatch() {
  signal(SIGCHLD, SIG_DFL);  // ignored, it would make the kernel throw exit statuses away
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (!is_ignored(number)) sigaddset(&watched, number);
  sigprocmask(SIG_BLOCK, &watched, &original_mask_);
  descriptor_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

SignalWatch::~SignalWatch() {
  close(descriptor_);
  restore_mask();
}

std::optional<ReceivedSignal> SignalWatch::next() {
  signalfd_siginfo info;
  if (read(descriptor_, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) return std::nullopt;
  return ReceivedSignal{static_cast<int>(info.ssi_signo), info.ssi_code <= 0};
}

bool SignalWatch::wants_end() {
  while (const std::optional<ReceivedSignal> signal = next()) wants_end_ |= signal->number != SIGCHLD;
  return wants_end_;
}

void SignalWatch::restore_mask() const { sigprocmask(SIG_SETMASK, &original_mask_, nullptr); }

}  // namespace tarn::tool
