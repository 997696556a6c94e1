#include "thread/watch/call_ring.h"

#include "os/locks/mutex.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "thread/watch/watch_lease.h"
#include "thread/watch/watch_switches.h"

namespace tarn::internal {
namespace {

constexpr std::uint64_t kCallsOfLook = 64;  // from one look at the tool's lease to the next
constexpr std::size_t kRingBytes = CallRing::kRoom * sizeof(trace::Event);

void sleep_one_ms() {
  std::atomic<std::uint32_t> nobody_wakes{0};
  os::wait_on(&nobody_wakes, 0, 1);
}

void end_recording() {
  watch_switches.recording.store(Recording::kOff, std::memory_order_relaxed);
  watch_switches.count();
}

}  // namespace

void CallRing::add(trace::Operation operation, const void* block, std::size_t size, std::uint64_t order,
                   unsigned alignment_log2) {
  if (!has_memory() || is_full()) [[unlikely]]
    if (!make_room()) {
      if (watch_switches.is_recording()) note_lost();  // else the call is one behind the recording's end
      return;
    }
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  if (written % kCallsOfLook == 0 && watch_leases.recording.has_lapsed()) [[unlikely]]
    return end_recording();
  events_.load(std::memory_order_relaxed)[written % kRoom] =
      trace::packed({operation, address_of(block), size, alignment_log2, order});
  written_.store(written + 1, std::memory_order_release);
}

bool CallRing::make_room() {
  if (!has_memory()) {
    void* const memory = os::map(kRingBytes);
    if (memory == nullptr) return false;
    // The next event is the first one in new memory.
    events_.store(static_cast<trace::Event*>(memory), std::memory_order_release);
  }
  return !is_full() || wait_for_tool();
}

// \returns whether the tool fetched some; else there is no recording any more.
bool CallRing::wait_for_tool() const {
  std::uint64_t fetched = fetched_.load(std::memory_order_acquire);
  for (std::uint64_t since = os::clock_ms(); os::clock_ms() - since < kPatienceMs;) {
    sleep_one_ms();
    if (!is_full()) return true;
    if (!watch_switches.is_recording()) return false;
    const std::uint64_t now = fetched_.load(std::memory_order_acquire);
    if (now != fetched) since = os::clock_ms();
    fetched = now;
  }
  end_recording();
  return false;
}

void CallRing::end() {
  if (!has_memory()) return;
  trace::Event* const events = events_.exchange(nullptr, std::memory_order_acq_rel);
  fetched_.store(written_.load(std::memory_order_relaxed), std::memory_order_release);
  os::release(events, kRingBytes);
}

}  // namespace tarn::internal
