// All calls of all threads are watched, while somebody wishes it: switched on and off in a running process,
// from inside or by a tool that writes two words.
//
// While a thread is watched, the fast path does not see its records: each of its calls comes to the slow
// door, which takes blocks from the hidden records itself, without a lock, and counts the bytes that are
// asked for. A block that a sample falls on comes from a slab of its own kind (SlabOwner::hides_slabs): no
// page of such a slab names a record. So the block's free takes the slow door too, by any thread, also when
// nobody watches any more. A watched call thus costs some ns, one that is not watched nothing: the hit is
// what it was. Pools that see each call: pool/watched_blocks.h.
//
// Samples are drawn so that each byte has the same chance (as in google/tcmalloc and jemalloc): the distance
// of two is exponential. \why not at refills: what is freed at once is never refilled for, and so never seen.
//
// The other reasons to watch a thread are a recording (recorded_call.h), and guards (guard_turns.h): the same
// switch, other words.
//
// A profile or recording that a tool switched on ends with the tool (watch_lease.h).
//
// A switch counts `watch_switches`. The first slow call of any thread that sees another count than before
// rings for all other threads: it lets their pointers lead to the empty cache, under the mutex of each heap,
// and marks the spans of all pools, so that frees of their blocks take the slow door. So a thread that only
// ever hits comes to a slow door too.
//
// Invariant: `undisturbed_at` of a thread is that count exactly when the thread has noticed it and is not
// watched (this_thread.h).
// Threads: any.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "thread/observation/guard_turns.h"
#include "thread/this_thread.h"

namespace tarn::internal {

/// When a sample ends.
enum class SampleLasts : std::uint8_t { kUntilFree, kUntilSwitch };

/// A block that a sample has fallen on.
struct Sampled {
  void* block;
  std::size_t requested;   // bytes
  std::size_t interval;    // mean bytes from one sample to the next
  std::uint64_t pool = 0;  // its number; 0: the general pool
  SampleLasts lasts = SampleLasts::kUntilFree;
};

/// What is told of samples. Called by the thread that allocates or frees, with no lock held; allocates
/// nothing.
struct SampleSink {
  void (*on_allocated)(const Sampled& sampled);
  /// \returns whether a sample had fallen on the block.
  bool (*on_freed)(void* block);
  /// A block has another address now.
  void (*on_moved)(void* from, void* to);
  /// Nobody watches any more.
  void (*on_switched_off)();
};

class Observation {
 public:
  /// Provides what is told of samples; once, before main. A switch that came before it counts anew.
  void set_sink(const SampleSink& sink);

  /// Switches. \param interval mean bytes between samples; 0: nothing is watched any more.
  /// \threads any, with no lock held.
  void watch(std::size_t interval);
  std::size_t interval() const { return interval_.load(std::memory_order_relaxed); }
  /// Lets calls of the general pool be put down, or no longer; none where an option makes every call slow.
  /// \threads any, with no lock held.
  void record(Recording recording);
  /// Puts all calls down from now on, in forked children too: somebody fetches those of each process.
  void record_with_children();

  /// Lets one block in so many of the general pool be guarded; 0: none from now on. \threads any, with no
  /// lock held.
  void guard(std::uint32_t one_in);
  /// \pre the thread is watched, and has a heap
  static bool is_guard_due() { return this_heap()->calls_to_guard <= 0 && is_guard_due_now(); }
  /// The block that was due has been guarded, or was not to be. \param ns what that took
  void note_guarded(std::uint64_t ns);
  void begin_guard_turn_if_due() {
    if (guard_turns.begin_if_due()) watch_switches.count();
  }

  /// Whether a block may be a sampled one: true from the first switch on.
  bool has_begun() const { return watch_switches.generation.load(std::memory_order_relaxed) != 0; }

  /// Takes notice of a switch, if there is one. \returns whether the calling thread is watched then. \pre no
  /// lock is held.
  bool watches_this_thread() {
    notice();
    if (this_thread().is_watched() && this_heap() != nullptr && --this_heap()->slow_calls_of_turn <= 0)
        [[unlikely]]
      end_long_turn();
    return this_thread().is_watched();
  }
  /// Takes notice of a switch, if there is one. \pre no lock is held.
  TARN_INLINE void notice() {
    if (watch_switches.generation.load(std::memory_order_acquire) != this_thread().switch_noticed())
        [[unlikely]]
      take_notice();
  }

  /// Lets all threads notice the last switch, unless some call has done so. \threads any, also one without
  /// thread-local data, with no lock held.
  void ring();

  /// Counts a request. \returns whether a sample falls on it. \pre the thread is watched.
  bool is_sampled(std::size_t requested) {
    this_thread().bytes_to_sample -= static_cast<std::int64_t>(requested);
    return this_thread().bytes_to_sample <= 0 && draw();
  }

  void note_allocated(void* block, std::size_t requested, std::uint64_t pool = 0,
                      SampleLasts lasts = SampleLasts::kUntilFree) {
    sink_.load(std::memory_order_acquire)->on_allocated({block, requested, interval(), pool, lasts});
  }
  bool note_freed(void* block) { return sink_.load(std::memory_order_acquire)->on_freed(block); }
  void note_moved(void* from, void* to) { sink_.load(std::memory_order_acquire)->on_moved(from, to); }

 private:
  friend class ObservedLayout;

  bool may_sample() const;
  bool may_record() const;
  bool may_guard() const;
  static bool is_guard_due_now();
  void end_turn(std::uint64_t ns);
  void end_long_turn();
  void take_notice();
  bool draw();

  // Tools write it before they count the switch.
  std::atomic<std::uint64_t> interval_{0};
  std::atomic<std::uint32_t> rung_for_{0};  // the switch for which all threads were rung
  std::atomic<bool> was_recording_{false};  // then
  std::atomic<const SampleSink*> sink_{nullptr};
};

extern Observation observation;

}  // namespace tarn::internal
