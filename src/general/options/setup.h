// Reads the options and passes them to the tiers below, before the first block; and changes them later
// (tarn/options.h). Its mutex guards all of general/options/configuration.h but the values.
#pragma once
#include <string_view>

#include "base/text.h"
#include "thread/this_thread.h"

namespace tarn::internal {

enum class Option : std::uint8_t;
struct OptionInfo;

/// \cost a load, after the first call. Threads: any.
void set_up_once();

/// Whether it has been called. Threads: any.
bool is_set_up();

enum class OptionSetting : std::uint8_t { kDone, kBadValue, kTooLate };
/// Sets an option as tarn_set_option does. Before the set-up it reads the other sources, which the set value
/// wins over, but sets nothing up. \param source a name that must stay valid. Threads: any, with no lock
/// held.
OptionSetting set_option(const OptionInfo& option, std::string_view text, const char* source);
/// The same from a number, which is brought into the option's limits.
/// \pre a number is the value of the option, which may change at any time.
void set_option_number(Option option, std::int64_t value, const char* source);

struct OptionNow {
  const char* source;
  bool may_change;
};
/// Adds the present value to the text. Threads: any, with no lock held.
OptionNow add_option_value(Text& text, const OptionInfo& option);

/// Adds the present value of stats_file. \returns false when there is none, or the options were never needed.
bool add_stats_file(Text& text);

/// \returns the calling thread's heap, after the options are read; nullptr when the thread has called too
/// rarely to have one, has ended, or memory is refused: then the shared owner serves it.
inline ThreadHeap* heap_of_this_thread() {
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) [[likely]]
    return heap;
  set_up_once();
  return attach_if_qualified();
}

/// The same for a thread whose calls are recorded: it has a heap from its first call on, if it can have one.
inline ThreadHeap* recorded_heap() {
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) [[likely]]
    return heap;
  set_up_once();
  return attach_this_thread();
}

}  // namespace tarn::internal
