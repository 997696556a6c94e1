#include "look/leaks/find_leaks.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "observer/process/attached_process.h"
#include "observer/process/thread_words.h"
#include "system/figures/format.h"
#include "system/terminal/progress.h"

namespace tarn::tool {
namespace {

/// What one look needs and gives.
struct Looking {
  const HowToLook& how;
  observer::Source& source;
  Progress progress;
  observer::Snapshot snapshot;
  bool has_registers = false;

  std::vector<observer::Address> read_registers();
  observer::Look look();
};

std::vector<observer::Address> Looking::read_registers() {
  if (source.kind() == observer::SourceKind::kCore) {
    std::vector<observer::Address> words = observer::core_file_words(how.core_file);
    has_registers = !words.empty();
    return words;
  }
  if (source.kind() != observer::SourceKind::kProcess) return {};
  std::vector<observer::Address> words = observer::call_words(observer::running_process(source));
  if (how.stops_threads) {
    const observer::StoppedThreads stopped =
        observer::stopped_thread_words(observer::running_process(source));
    words.insert(words.end(), stopped.words.begin(), stopped.words.end());
    has_registers = stopped.unseen == 0;
  }
  return words;
}

observer::Look Looking::look() {
  snapshot = observer::read_snapshot(source);
  return observer::look_for_leaks(source, snapshot, read_registers(), [this](std::uint64_t bytes) {
    progress.begin_run(fmt::format("following pointers: {} read", format_bytes(static_cast<double>(bytes))));
  });
}

/// Looks again, without following pointers, whether leaks of a busy program stay live: a batch of free blocks
/// that goes from one thread's hand to another's while a snapshot is read looks live in that one.
void drop_what_moves(Looking& looking, std::vector<observer::Suspect>& leaks) {
  constexpr int kSnapshots = 8;
  constexpr std::chrono::milliseconds kBetween(25);
  for (int i = 0; i < kSnapshots && !leaks.empty(); ++i) {
    std::this_thread::sleep_for(kBetween);
    looking.source.refresh();
    looking.snapshot = observer::read_snapshot(looking.source);
    leaks = observer::still_live(looking.source, looking.snapshot, leaks);
  }
}

/// Looks until a look drops no suspect of the ones before. \why not until a snapshot is exact: that it was
/// made in a quiet moment says nothing of the time in which pointers were followed.
LeakLooks look_and_confirm(Looking& looking, std::vector<observer::Suspect>& leaks) {
  constexpr unsigned kMostLooks = 5;
  LeakLooks looks;
  looks.seconds_between = looking.how.wait;
  looks.last = looking.look();
  leaks = looks.last.suspects;
  bool is_certain = looking.source.kind() != observer::SourceKind::kProcess, is_busy = false;
  while (!is_certain && !leaks.empty() && looks.count < kMostLooks) {
    std::this_thread::sleep_for(std::chrono::duration<double>(looking.how.wait));
    looking.source.refresh();
    looks.last = looking.look();
    ++looks.count;
    const std::size_t before = leaks.size();
    leaks = observer::confirmed(leaks, looks.last);
    is_certain = leaks.size() == before;
    is_busy = is_busy || !is_certain || !looking.snapshot.exactness.is_exact;
  }
  if (is_busy) drop_what_moves(looking, leaks);
  looks.has_registers = looking.has_registers;
  return looks;
}

}  // namespace

FoundLeaks find_leaks(observer::Source& source, const HowToLook& how) {
  Looking looking{how, source, Progress(ProgressStyle::kLateLine), {}, false};
  FoundLeaks found;
  found.looks = look_and_confirm(looking, found.leaks);
  looking.progress.clear();
  found.snapshot = std::move(looking.snapshot);
  return found;
}

}  // namespace tarn::tool
