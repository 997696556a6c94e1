#include "trace/recorder.h"

#include <algorithm>

namespace tarn::tool {

bool Recorder::skip_old(const std::function<bool()>& is_over) {
  for (const observer::CallRingState& ring : words_.rings(is_over)) {
    if (is_over()) return false;
    if (ring.fetched != ring.written) words_.note_fetched(ring, ring.written);
    threads_.insert(
        {ring.record, {.number = static_cast<std::uint32_t>(threads_.size()), .lost_seen = ring.lost}});
  }
  unseen_before_ = words_.unseen_calls();
  return true;
}

Recorder::Fetched Recorder::fetch(const std::function<bool()>& is_over) {
  Fetched fetched = Fetched::kLittle;
  for (const observer::CallRingState& ring : words_.rings(is_over)) {
    if (is_over()) return Fetched::kCut;
    if (fetch_ring(ring)) fetched = Fetched::kMuch;
  }
  unseen_calls_ = words_.unseen_calls() - unseen_before_;
  return fetched;
}

// \returns whether the ring was half full.
bool Recorder::fetch_ring(const observer::CallRingState& ring) {
  if (ring.written == 0 && ring.lost == 0) return false;
  Thread& thread =
      threads_.try_emplace(ring.record, Thread{.number = static_cast<std::uint32_t>(threads_.size())})
          .first->second;
  if (!words_.read(ring, words_.room(), events_)) return false;
  const std::uint64_t newest_order = words_.order();
  if (!events_.empty()) {
    words_.note_fetched(ring, ring.fetched + events_.size());
    append(thread, newest_order);
  }
  if (ring.lost > thread.lost_seen) {
    const trace::Event lost = trace::packed({.operation = trace::Operation::kLost,
                                             .size = ring.lost - thread.lost_seen,
                                             .order = thread.last_order});
    writer_.append(thread.number, thread.last_order, {&lost, 1});
    lost_events_ += ring.lost - thread.lost_seen;
    thread.lost_seen = ring.lost;
  }
  return events_.size() > words_.room() / 2;
}

void Recorder::append(Thread& thread, std::uint64_t newest_order) {
  std::uint64_t first = newest_order - ((newest_order - events_.front().low_order()) & trace::kOrderMask);
  first = std::max(first, thread.last_order);
  writer_.append(thread.number, first, events_);
  std::uint64_t last = first;
  for (std::size_t i = 1; i < events_.size(); ++i)
    last += (events_[i].low_order() - events_[i - 1].low_order()) & trace::kOrderMask;
  thread.last_order = last;
}

}  // namespace tarn::tool
