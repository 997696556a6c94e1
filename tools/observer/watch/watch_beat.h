// Keeps a watch on that this tool has switched on in a program: the library ends a watch when its tool no
// longer counts (src/thread/watch/watch_lease.h). A tool that was stopped for long finds its watch ended.
//
// Threads: one at a time; it has a thread of its own.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "observer/process/attached_process.h"
#include "observer/records/layout.h"

namespace tarn::observer {

/// Where a library looks whether a tool still watches; no address: it is too old to look.
struct LeaseWord {
  AttachedProcess& process;
  std::optional<Address> address;
};

/// \param field "lease.profile" or "lease.recording".
LeaseWord lease_word(AttachedProcess& process, const Layout& layout, std::string_view field);

/// Counts a switch, behind the words that it is about. \throws ObserveError when the process has ended.
void count_switch(AttachedProcess& process, const Layout& layout);

class WatchBeat {
 public:
  /// \throws ObserveError when the process has ended.
  explicit WatchBeat(const LeaseWord& word);
  ~WatchBeat();
  WatchBeat(const WatchBeat&) = delete;
  WatchBeat& operator=(const WatchBeat&) = delete;

  /// Whether the watch is this tool's still.
  bool is_kept() const;

 private:
  bool is_kept_locked() const;
  bool beat_locked();
  void run();

  const LeaseWord word_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t last_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tarn::observer
