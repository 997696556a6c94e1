#include "general/options/setup.h"

#include <atomic>

#include "general/options/apply_options.h"
#include "general/options/configuration.h"
#include "os/code/linking.h"
#include "os/locks/lock_rank.h"

namespace tarn::internal {
namespace {

os::Mutex& mutex = os::global_mutex<os::LockRank::kSetUp>();
constinit bool is_read = false;
constinit std::atomic<bool> is_done{false};

void read_once_locked() {
  if (is_read) return;
  configuration.read();
  is_read = true;
}

bool may_change_locked(const OptionInfo& option) {
  return option.change == OptionChange::kAnyTime || !is_done.load(std::memory_order_relaxed);
}

/// Calls set() under the mutex. \returns whether a change has to be finished.
template <typename Set>
OptionSetting change(const OptionInfo& option, Set set) {
  {
    os::LockGuard guard(mutex);
    read_once_locked();
    if (!may_change_locked(option)) return OptionSetting::kTooLate;
    if (!set()) return OptionSetting::kBadValue;
    if (!is_done.load(std::memory_order_relaxed)) return OptionSetting::kDone;
    apply_option(option.id);
  }
  finish_change(option.id);
  return OptionSetting::kDone;
}

}  // namespace

void set_up_once() {
  // Nobody calls the descriptor of what readers see, nor what looks for leaks at the end.
  TARN_KEEP_LINKED(tarn_observe_descriptor);
  TARN_KEEP_LINKED(tarn_leaks_at_exit);
  if (is_done.load(std::memory_order_acquire)) return;
  {
    os::LockGuard guard(mutex);
    if (is_done.load(std::memory_order_relaxed)) return;
    read_once_locked();
    apply_all_options();
    if (configuration.is_on(Option::kPrintOptions)) print_configuration();
    is_done.store(true, std::memory_order_release);
  }
  finish_all_options();
}

bool is_set_up() { return is_done.load(std::memory_order_acquire); }

OptionSetting set_option(const OptionInfo& option, std::string_view text, const char* source) {
  return change(option, [&] { return configuration.set(option, text, source); });
}

void set_option_number(Option option, std::int64_t value, const char* source) {
  const OptionInfo& info = kOptionTable[static_cast<std::size_t>(option)];
  change(info, [&] { return configuration.set_number(info, value, source), true; });
}

OptionNow add_option_value(Text& text, const OptionInfo& option) {
  os::LockGuard guard(mutex);
  read_once_locked();
  configuration.add_value(text, option);
  return {configuration.source(option.id), may_change_locked(option)};
}

bool add_stats_file(Text& text) {
  os::LockGuard guard(mutex);
  if (!is_read || configuration.stats_file()[0] == '\0') return false;
  text.add(configuration.stats_file());
  return true;
}

}  // namespace tarn::internal
