#include "observer/watch/watch_beat.h"

#include <signal.h>

#include <chrono>

#include "base/switch_count.h"

namespace tarn::observer {
namespace {

constexpr std::chrono::milliseconds kPause(400);  // of a patience of 2 s

/// Signals are for the thread that waits for them.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

LeaseWord lease_word(AttachedProcess& process, const Layout& layout, std::string_view field) {
  const std::optional<Field> found = layout.find_field(field);
  if (!found) return {process, std::nullopt};
  return {process, layout.root("watch_leases") + found->offset};
}

void count_switch(AttachedProcess& process, const Layout& layout) {
  const Address at = layout.root("watch") + layout.field("watch.generation").offset;
  std::uint32_t now = 0;
  static_cast<void>(process.read(at, &now, sizeof now));
  // The program itself may count a few meanwhile.
  constexpr std::uint32_t kStride = 4096;
  const std::uint32_t next = internal::next_switch(now + kStride);
  process.write(at, &next, sizeof next);
}

WatchBeat::WatchBeat(const LeaseWord& word) : word_(word) {
  if (!word_.address) return;
  static_cast<void>(word_.process.read(*word_.address, &last_, sizeof last_));
  if (last_ != 0) {
    beat_locked();
  } else {
    // Not where an earlier tool has begun: the library may still know its last beat.
    last_ = static_cast<std::uint32_t>(std::chrono::steady_clock::now().time_since_epoch().count()) | 1;
    word_.process.write(*word_.address, &last_, sizeof last_);
  }
  const NoSignals blocked;
  thread_ = std::thread([this] { run(); });
}

WatchBeat::~WatchBeat() {
  if (!word_.address) return;
  {
    const std::lock_guard guard(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
  const std::uint32_t nobody = 0;
  try {
    if (is_kept_locked()) word_.process.write(*word_.address, &nobody, sizeof nobody);
  } catch (const ObserveError&) {
    // The process has ended.
  }
}

bool WatchBeat::is_kept() const {
  const std::lock_guard guard(mutex_);
  return is_kept_locked();
}

bool WatchBeat::is_kept_locked() const {
  std::uint32_t now = 0;
  return !word_.address ||
         (word_.process.read(*word_.address, &now, sizeof now) == sizeof now && now == last_);
}

bool WatchBeat::beat_locked() {
  if (!is_kept_locked()) return false;
  const std::uint32_t next = last_ + 1 != 0 ? last_ + 1 : 1;
  word_.process.write(*word_.address, &next, sizeof next);
  last_ = next;
  return true;
}

void WatchBeat::run() try {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kPause, [this] { return ends_; }) && beat_locked()) {
  }
} catch (const ObserveError&) {
  // The process has ended: whoever watches it sees that too.
}

}  // namespace tarn::observer
