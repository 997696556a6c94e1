// The option leaks: when the process ends by exit or by main's return, it looks for its own leaks, tells of
// them, and ends with a status of its own.
//
// The library hands its function to on_exit when it is loaded, before the program's own. So libc calls it
// after all of theirs, with the status; in the shared library also after the destructors of all files, in the
// archive before those that the linker collects (.fini_array). What comes later is libc's own, which writes
// what its streams have left: a second exit within the first goes on there, with another status.
//
// A child of a fork inherits the function and looks for itself when it ends so. _exit, quick_exit, abort and
// signals end a process without a look.
#include <cstdlib>

#include "general/options/configuration.h"
#include "observe/leaks/leak_search.h"
#include "os/fatal.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "thread/heap_record.h"

// Nobody calls anything of this file, so an archive would leave it out: general/options/setup.cc names this.
extern "C" [[gnu::visibility("hidden"), gnu::used]] const char tarn_leaks_at_exit = 0;

namespace tarn::internal {
namespace {

constexpr int kLeaksStatus = 23;  // LeakSanitizer's

constexpr int kLooksBesideThreads = 3;

const char* look(LeakSearch& search, std::uintptr_t stack_pointer) {
  if (thread_limits.every_call_is_slow)
    return "check, count_calls, pools_use_malloc and LeakSanitizer leave no room for stacks";
  const int looks = os::thread_count() > 1 ? kLooksBesideThreads : 1;
  for (int i = 0; i < looks && (i == 0 || search.has_suspects()); ++i)
    if (const char* const obstacle = search.look(stack_pointer); obstacle != nullptr) return obstacle;
  return nullptr;
}

// \returns whether there are leaks.
[[gnu::noinline]] bool tell_leaks() {
  LeakSearch search(configuration.leaks_suppressions());
  const char* const obstacle = look(search, address_of(__builtin_frame_address(0)));
  FixedText<256> line;
  line.add("tarn: ");
  if (obstacle != nullptr) {
    line.add("no search for leaks: ").add(obstacle).add('\n');
    os::write_line(line.data(), line.length());
    return false;
  }
  return search.report();
}

void at_exit(int status, void*) {
  enum { kOff, kExit };
  if (configuration.value(Option::kLeaks) != kExit) return;
  __builtin_unwind_init();  // what callers have in registers now lies on the stack
  if (tell_leaks() && status == 0) std::exit(kLeaksStatus);
}

[[gnu::constructor(102)]] void begin_leaks_at_exit() { static_cast<void>(on_exit(at_exit, nullptr)); }

}  // namespace
}  // namespace tarn::internal
