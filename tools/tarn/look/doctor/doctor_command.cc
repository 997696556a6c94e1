// `tarn doctor`: what is wrong with a program's memory, and what to do.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "commands/commands.h"
#include "look/doctor/doctor_report.h"
#include "look/leaks/find_leaks.h"
#include "look/processes/target.h"
#include "observer/findings/findings.h"
#include "observer/findings/next_step.h"
#include "observer/process/attached_process.h"
#include "system/files/output_files.h"
#include "system/files/usage_error.h"
#include "system/terminal/terminal.h"

namespace tarn::tool {
namespace {

// Pointers of so much are followed in a quarter of a second.
constexpr std::uint64_t kQuicklySearched = std::uint64_t{256} << 20;
constexpr double kWaitForLeaks = 0.2;  // seconds between two looks that must agree
// In so many moments, so far apart, a program is seen to grow, or to be busy.
constexpr std::size_t kMoments = 3;
constexpr double kMomentToWait = 0.25;  // seconds
constexpr double kLeastPause = 0.1, kLongestPause = 24 * 3600;

struct DoctorOptions {
  Target target;
  double pause_seconds = 0;  // between two looks; 0: one look
  bool as_json = false;
  bool finds_leaks = false, leaves_leaks = false;  // neither: where it is quick
};

void print_now(const std::string& text) {
  print_document(text);
  std::fflush(stdout);
}

observer::LeakSum sum_of_leaks(observer::Source& source, const DoctorOptions& options) {
  observer::LeakSum sum;
  for (const observer::Suspect& leak :
       find_leaks(source, {.core_file = options.target.core_file, .wait = kWaitForLeaks}).leaks)
    sum.add(leak.block.bytes);
  return sum;
}

/// \returns nothing where they cannot be looked for, unless that was asked for: the rest is told then.
std::optional<observer::LeakSum> leaks_that_can_be_found(observer::Source& source,
                                                         const DoctorOptions& options) {
  try {
    return sum_of_leaks(source, options);
  } catch (const observer::ObserveError&) {
    if (options.finds_leaks) throw;
    return std::nullopt;
  }
}

class Doctor {
 public:
  explicit Doctor(const DoctorOptions& options) : options_(options), source_(open_target(options.target)) {}

  void look() {
    source_->refresh();
    observer::Snapshot snapshot = observer::read_snapshot(*source_);
    const bool is_running = source_->kind() == observer::SourceKind::kProcess;
    const auto residency = observer::read_residency(*source_);
    const auto system = is_running
                            ? observer::read_system_facts(observer::process_of(*source_)->directory_path())
                            : observer::SystemFacts{};
    const auto watched = observer::read_watch_words(*source_);
    const auto leaks = looks_for_leaks(snapshot) ? leaks_that_can_be_found(*source_, options_) : std::nullopt;
    const auto findings =
        observer::findings_of({snapshot, residency ? &*residency : nullptr, system,
                               earlier_ ? &*earlier_ : nullptr, watched, leaks ? &*leaks : nullptr});
    if (!options_.as_json)
      print_now(doctor_text(snapshot, findings, columns_of(STDOUT_FILENO, kWidthOfText),
                            colour_for(STDOUT_FILENO)));
    const auto next = is_running ? next_after(findings) : observer::NextStep{};
    print_now(options_.as_json ? text_of(doctor_json(snapshot, findings, next))
                               : next_text(next, columns_of(STDOUT_FILENO, kWidthOfText)));
    has_bad_ = has_bad(findings);
    earlier_ = std::move(snapshot);
  }

  int status() const { return has_bad_ ? 1 : 0; }

 private:
  /// The first time some moments are waited for; where the program ends meanwhile, there is no next step.
  observer::NextStep next_after(const std::vector<observer::Finding>& findings) {
    try {
      for (int i = 0; moments_.size() < kMoments; ++i) {
        if (i != 0) std::this_thread::sleep_for(std::chrono::duration<double>(kMomentToWait));
        source_->refresh();
        moments_.push_back(observer::moment_of(*source_, observer::read_snapshot(*source_)));
      }
      const auto next = observer::next_step(source_->pid(), findings, moments_);
      moments_.erase(moments_.begin());
      return next;
    } catch (const observer::ObserveError&) {
      return {};
    }
  }

  bool looks_for_leaks(const observer::Snapshot& snapshot) const {
    const bool is_quick = options_.pause_seconds == 0 && snapshot.totals.live_bytes <= kQuicklySearched;
    return options_.finds_leaks || (is_quick && !options_.leaves_leaks);
  }

  const DoctorOptions& options_;
  std::unique_ptr<observer::Source> source_;
  std::optional<observer::Snapshot> earlier_;
  std::vector<observer::Moment> moments_;
  bool has_bad_ = false;
};

/// Ends with the program; what its last look found is the status.
int watch(Doctor& doctor, const DoctorOptions& options) {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.pause_seconds));
    try {
      if (!options.as_json) fmt::print("\n");
      doctor.look();
    } catch (const observer::ObserveError& error) {
      fmt::print(stderr, "tarn: {}\n", error.what());
      return doctor.status();
    }
  }
}

int run_doctor(const DoctorOptions& options) {
  if (options.pause_seconds != 0) {
    require_range("--watch", options.pause_seconds, kLeastPause, kLongestPause);
    if (!options.target.core_file.empty())
      throw UsageError("a core file does not change: --watch is for processes");
  }
  Doctor doctor(options);
  doctor.look();
  return options.pause_seconds == 0 ? doctor.status() : watch(doctor, options);
}

}  // namespace

void add_doctor_command(CLI::App& app, Invocation& invocation) {
  CLI::App& command =
      add_command(app, "doctor", "Say what is wrong with a running program's memory, and what to do.",
                  "tarn doctor PID|NAME [--watch TIME] [--leaks] [--json], or --core FILE",
                  "  tarn doctor game_server\n"
                  "  tarn doctor 4711 --watch 10          and what changes meanwhile\n"
                  "  tarn doctor --core core.4711\n"
                  "  tarn doctor 4711 || page_somebody\n"
                  "\n"
                  "Exit status: 0 nothing is bad, 1 something is, or the program cannot be looked at.\n");
  auto options = std::make_shared<DoctorOptions>();
  add_target(command, options->target);
  add_value(command, "--watch TIME", options->pause_seconds,
            "Look again after each such time until the program ends, and judge what changed")
      .as_seconds();
  const AddedOption finds = add_flag(command, "--leaks", options->finds_leaks,
                                     "Look for leaks also where that is not quick, or with --watch");
  add_flag(command, "--no-leaks", options->leaves_leaks,
           "Look for none; by default up to 256 MiB of live blocks are searched")
      .excludes(finds);
  add_flag(command, "--json", options->as_json, "Print JSON");
  on_call(command, invocation, options, run_doctor);
}

}  // namespace tarn::tool
