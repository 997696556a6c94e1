// Fetches the calls that a program puts down, and writes them to a trace.
//
// Each heap of the program is a thread of the trace: threads that follow each other in one heap are told as
// one. Order numbers, of which an event has the low bits, are made whole here: no event is later than the
// number that all threads share was when it was fetched.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "observer/recording.h"
#include "trace/trace_writer.h"

namespace tarn::tool {

class Recorder {
 public:
  Recorder(const observer::RecordingWords& words, trace::TraceWriter& writer)
      : words_(words), writer_(writer) {}

  /// Takes what rings hold of a recording before for fetched. \pre nothing is recorded yet. \returns whether
  /// that was done before is_over().
  bool skip_old(const std::function<bool()>& is_over);

  enum class Fetched : std::uint8_t { kLittle, kMuch, kCut };
  /// Asks is_over() before each ring: a hostile program has any number of them, which are always full.
  /// \returns kMuch when a ring was so full that its thread may have waited, kCut when it was over before all
  /// rings were read. \throws observer::ObserveError
  /// when the process has ended, trace::TraceError when the file cannot be written.
  Fetched fetch(const std::function<bool()>& is_over);

  std::uint64_t lost_events() const { return lost_events_ + unseen_calls_; }

 private:
  struct Thread {
    std::uint32_t number = 0;
    std::uint64_t lost_seen = 0;
    std::uint64_t last_order = 0;
  };

  bool fetch_ring(const observer::CallRingState& ring);
  void append(Thread& thread, std::uint64_t newest_order);

  const observer::RecordingWords& words_;
  trace::TraceWriter& writer_;
  std::unordered_map<observer::Address, Thread> threads_;
  std::vector<trace::Event> events_;
  std::uint64_t lost_events_ = 0, unseen_calls_ = 0, unseen_before_ = 0;
};

}  // namespace tarn::tool
