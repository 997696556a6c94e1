// The calls that a program puts down (src/thread/watch/call_ring.h), fetched from its rings while it runs,
// and the words by which a tool lets it put down some. Nothing of the program is stopped; a thread whose ring
// is full waits until its events are fetched.
//
// Threads: one at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "base/call_event.h"
#include "observer/process/source.h"
#include "observer/records/layout.h"
#include "observer/watch/watch_beat.h"

namespace tarn::observer {

/// What one look at a ring told.
struct CallRingState {
  Address record = 0, events = 0;
  std::uint64_t written = 0, fetched = 0, lost = 0;
};

enum class RecordingState : std::uint8_t { kOff, kOn, kEnding };

class RecordingWords {
 public:
  /// \throws ObserveError when the program has no tarn, one that records nothing, or one that is set so; or
  /// when its memory may not be written.
  explicit RecordingWords(const Source& source);

  std::vector<CallRingState> rings(const std::function<bool()>& is_over) const;
  std::uint32_t room() const { return room_; }  // events of a ring
  /// Copies the events of a ring that were not fetched, at most `most` of them. \returns false where its
  /// memory is gone, or what it says of itself cannot be.
  bool read(const CallRingState& ring, std::uint64_t most, std::vector<trace::Event>& into) const;
  /// Tells the thread how many of its events were fetched, ever. \throws ObserveError as set().
  void note_fetched(const CallRingState& ring, std::uint64_t count) const;

  /// The number that a call has which happens now; no event that was read before has a larger one.
  std::uint64_t order() const;
  /// Calls of threads that could not be put down.
  std::uint64_t unseen_calls() const;

  RecordingState state() const;
  /// \throws ObserveError when the process has ended.
  void set(RecordingState state) const;
  /// Where it is counted that the recording's tool is there.
  LeaseWord lease() const { return lease_word(process_, layout_, "lease.recording"); }
  /// Whether the program's memory is still there.
  bool can_be_read() const;

 private:
  std::uint64_t number(Address record, std::string_view field) const;
  std::uint32_t value_of(RecordingState state) const;

  const Source& source_;
  Layout layout_;
  AttachedProcess& process_;
  std::uint32_t room_ = 0;
};

}  // namespace tarn::observer
