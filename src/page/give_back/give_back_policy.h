// Decides how much to give back and when: figures and times in, bytes out. No clock, no lock, no system
// calls, so tests run through hours of invented time.
//
// Dirty bytes above a limit are excess. Excess that lasted from one look to the next goes back, since no
// thread needed it; a short peak does not last. The limit is the free-page threshold; it rises while the
// program asks again for memory that was just given back (idea: glibc's dynamic trim threshold), so that a
// program which frees and refills its heap in a loop does not fault its pages each time. It falls, as far as
// an eighth of the threshold, while the heap grows by pages without memory beside dirty ones: those are then
// of no use to it, being many small holes. Each tick, twice per decay time, gives back the bytes that stayed
// dirty since the last tick, also below the limit, and takes the limit half the way, or twice as far, towards
// the threshold. A late tick counts once: after a suspended machine wakes, missed ticks are
// not made up for.
//
// Invariant: limit >= threshold / 8 + kept bytes; no low is above the dirty bytes.
// Threads: the page cache's lock; any thread may call exceeds_limit() and all of TickClock.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"

namespace tarn::internal {

class GiveBackPolicy {
 public:
  constexpr explicit GiveBackPolicy(std::size_t threshold) : threshold_(threshold), limit_(threshold) {}

  /// Whether the limit follows what the program does.
  enum class Adapts : std::uint8_t { kYes, kNo };

  /// Sets the threshold, and the limit to the threshold.
  void set_threshold(std::size_t bytes, Adapts adapts = Adapts::kYes) {
    threshold_ = bytes;
    adapts_ = adapts;
    set_limit(least_limit());
  }

  /// Keeps `bytes` more of free pages, made ahead of need: no decay gives them back.
  void keep(std::size_t bytes) {
    kept_ += bytes;
    set_limit(limit() + bytes);
  }
  void keep_nothing() {
    set_limit(limit() - kept_);
    kept_ = 0;
  }

  void validate(std::size_t dirty) const;

  std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }
  bool exceeds_limit(std::size_t dirty) const { return dirty > limit(); }
  /// The limit, or the threshold where it has fallen below. \threads any
  std::size_t limit_at_once() const {
    const std::size_t threshold = threshold_;
    return limit() > threshold ? limit() : threshold;
  }

  /// Call after dirty bytes were taken.
  void note_low(std::size_t dirty) {
    if (dirty < lowest_dirty_) lowest_dirty_ = dirty;
    if (dirty < lowest_excess_) lowest_excess_ = dirty;
  }

  /// Call when `bytes` without memory come into use while `dirty` ones stay free. Soon after pages went back
  /// for exceeding the limit, this shows that the limit is too low for this program; else, that the dirty
  /// pages are of no use to it.
  void note_clean_use(std::size_t bytes, std::size_t dirty) {
    const std::size_t missed = lesser(bytes, recently_given_back_);
    const std::size_t unused = lesser(bytes - missed, above(dirty, kept_));
    if (adapts_ == Adapts::kNo || (missed == 0 && unused == 0)) return;
    recently_given_back_ -= missed;
    has_fallen_ |= unused != 0;
    const std::size_t fallen = above(limit() + missed, unused);
    set_limit(fallen < lowest_limit() ? lowest_limit() : fallen);
  }

  /// Call when `bytes` went back for exceeding the limit. What went back because the limit had fallen was of
  /// no use, so to need as much again does not show that it should have stayed.
  void note_given_back(std::size_t bytes) {
    recently_given_back_ += above(bytes, above(least_limit(), limit()));
  }

  /// The same of bytes that went back the moment they were free: nothing shows yet that they are of no use.
  void note_given_back_at_once(std::size_t bytes) {
    recently_given_back_ += bytes;
    if (bytes != 0 && limit() < least_limit()) set_limit(least_limit());
  }

  /// \returns the dirty bytes that were not made ahead of need.
  std::size_t unkept(std::size_t dirty) const { return above(dirty, kept_); }

  /// \returns bytes to give back at once, where nobody looks later. A limit that has fallen does not count: a
  /// loop that frees and refills little would fault its pages each time.
  std::size_t excess_at_once(std::size_t dirty) const {
    return above(dirty, limit() > least_limit() ? limit() : least_limit());
  }

  /// \returns bytes to give back because they were excess during the whole time since the last call.
  std::size_t lasting_excess(std::size_t dirty) {
    const std::size_t lasting = above(lowest_excess_, limit());
    lowest_excess_ = dirty;
    return lasting;
  }

  /// \returns bytes to give back because no thread needed them since the last tick.
  std::size_t tick(std::size_t dirty) {
    const std::size_t unused = above(lowest_dirty_, kept_);
    lowest_dirty_ = dirty;
    recently_given_back_ = 0;
    if (limit() > least_limit()) {
      if (unused != 0) set_limit(limit() / 2 > least_limit() ? limit() / 2 : least_limit());
    } else if (!has_fallen_) {
      set_limit(lesser(2 * limit(), least_limit()));
    }
    has_fallen_ = false;
    return unused;
  }

 private:
  static std::size_t above(std::size_t bytes, std::size_t limit) { return bytes > limit ? bytes - limit : 0; }
  static std::size_t lesser(std::size_t one, std::size_t other) { return one < other ? one : other; }
  // Unless the limit has fallen, and if it has.
  std::size_t least_limit() const { return threshold_ + kept_; }
  std::size_t lowest_limit() const { return threshold_ / 8 + kept_; }
  void set_limit(std::size_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }

  Relaxed<std::size_t> threshold_;
  std::size_t kept_ = 0;
  std::atomic<std::size_t> limit_;       // read without the lock, as a hint
  std::size_t lowest_dirty_ = 0;         // bytes, since the last tick
  std::size_t lowest_excess_ = 0;        // dirty bytes, since the last look for lasting excess
  std::size_t recently_given_back_ = 0;  // bytes, for exceeding the limit, since the last tick
  Adapts adapts_ = Adapts::kYes;
  bool has_fallen_ = false;  // the limit, since the last tick
};

/// Says when a tick is due: twice per decay time, and only to the first thread that asks.
class TickClock {
 public:
  constexpr explicit TickClock(std::uint32_t decay_ms) : decay_ms_(decay_ms) {}

  void set_decay(std::uint32_t decay_ms) { decay_ms_ = decay_ms; }
  /// Without a decay time all memory goes back at once, and no tick is ever due.
  bool has_ticks() const { return decay_ms_ != 0; }
  std::uint32_t period_ms() const { return decay_ms_ / 2; }

  /// A clock that jumped back is believed: the tick is due, and the next one a period after it.
  bool is_due(std::uint64_t now_ms) {
    std::uint64_t last = last_ms_.load(std::memory_order_relaxed);
    return has_ticks() && now_ms - last >= period_ms() && last_ms_.compare_exchange_strong(last, now_ms);
  }

 private:
  Relaxed<std::uint32_t> decay_ms_;
  std::atomic<std::uint64_t> last_ms_{0};
};

}  // namespace tarn::internal
