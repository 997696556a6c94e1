// The calls of one heap's thread that a tool has not fetched yet, while the program is recorded: a ring of
// events that the thread writes and the tool reads from outside.
//
// A thread whose ring is full waits until the tool has fetched some: a trace with holes is worth little.
// Where none was fetched for seconds, the tool is gone: the thread ends the recording.
//
// Invariant: fetched <= written <= fetched + kRoom. A tool that writes nonsense ends the recording, nothing
// else.
// Threads: the thread of its heap, outside of any lock. A tool reads all of it, and writes `fetched`.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/call_event.h"
#include "base/relaxed.h"
#include "base/units.h"

namespace tarn::internal {

/// The number that orders the calls of all threads: each call has one of its own. \why not one for
/// many: an address that goes through several threads meanwhile would leave open which free is which block's.
struct alignas(kCacheLineBytes) CallOrder {
  std::atomic<std::uint64_t> now{1};
};
inline constinit CallOrder call_order{};

class CallRing {
 public:
  static constexpr std::size_t kRoom = std::size_t{1} << 16;  // events: 1 MiB
  static constexpr std::uint64_t kPatienceMs = 3000;

  /// \returns the number of a call that happens now.
  static std::uint64_t order() { return call_order.now.fetch_add(1, std::memory_order_acq_rel); }

  /// \cost some ns; until the tool has fetched some where the ring is full.
  void add(trace::Operation operation, const void* block, std::size_t size, std::uint64_t order,
           unsigned alignment_log2 = 0);
  /// What a tool does from outside: events by number, of the last kRoom that were written, and how far it is.
  std::uint64_t written() const { return written_.load(std::memory_order_acquire); }
  trace::Event event(std::uint64_t number) const {
    return events_.load(std::memory_order_relaxed)[number % kRoom];
  }
  void note_fetched(std::uint64_t count) { fetched_.store(count, std::memory_order_release); }
  std::uint64_t lost() const { return lost_; }

  /// Gives the memory back; events that were not fetched are gone. \pre no lock is held.
  void end();
  bool has_memory() const { return events_.load(std::memory_order_relaxed) != nullptr; }

  /// While the thread is in a recorded call, what that calls in turn is none.
  bool is_inside = false;

 private:
  friend class ObservedLayout;

  void note_lost() { lost_ += 1; }
  bool make_room();
  bool wait_for_tool() const;
  bool is_full() const {
    return written_.load(std::memory_order_relaxed) - fetched_.load(std::memory_order_acquire) >= kRoom;
  }

  std::atomic<trace::Event*> events_{nullptr};
  std::atomic<std::uint64_t> written_{0};  // ever
  std::atomic<std::uint64_t> fetched_{0};  // of these, by the tool
  Relaxed<std::uint64_t> lost_{0};         // ever
};

}  // namespace tarn::internal
