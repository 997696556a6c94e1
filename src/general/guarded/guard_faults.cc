// What is told of faults in slots (os/code/faults.h), once.
#include <atomic>

#include "base/text.h"
#include "general/guarded/guarded_blocks.h"
#include "os/code/faults.h"
#include "os/fatal.h"
#include "os/locks/mutex.h"
#include "os/stack/code_place.h"
#include "os/stack/unwind.h"

namespace tarn::internal {
namespace {

void write_report(std::uintptr_t address, const os::MemoryFault& fault) {
  FixedText<256> line;
  guarded_blocks.describe_fault(address, fault.is_write, line);
  os::tell_last_line(line.add('\n'));
  GuardedCall call{GuardedCall::this_thread(), 1, {reinterpret_cast<void*>(fault.place.address)}};
  call.count += os::capture_stack_from(fault.place, call.addresses + 1, GuardedCall::kMostAddresses - 1);
  os::write_stack("", call.thread, call.addresses, call.count);
  guarded_blocks.write_stacks_of(reinterpret_cast<const void*>(address));
}

// The first fault. The thread of another waits: what it goes on to may end the process.
void tell(std::uintptr_t address, const os::MemoryFault& fault) {
  enum : std::uint32_t { kNothing, kTelling, kTold };
  constexpr std::uint64_t kPatienceMs = 1000;
  static constinit std::atomic<std::uint32_t> state{kNothing};
  std::uint32_t nothing = kNothing;
  if (state.compare_exchange_strong(nothing, kTelling)) {
    write_report(address, fault);
    state = kTold;
  } else {
    for (std::uint64_t ms = 0; state == kTelling && ms < kPatienceMs; ++ms) os::wait_on(&state, kTelling, 1);
  }
}

}  // namespace

void watch_faults() {
  os::watch_faults([](const void* address) { return guarded_blocks.owns(address); }, tell);
}

}  // namespace tarn::internal
