// The queue of threads, and what each event does to the set of live blocks.
#include "trace/merge.h"

#include <algorithm>
#include <utility>

namespace tarn::trace {

Merger::Merger(const Trace& trace, Tell tell)
    : trace_(trace), tell_(std::move(tell)), cursors_(trace.threads.size()) {
  for (std::uint32_t thread = 0; thread < cursors_.size(); ++thread) queue_next(thread);
}

void Merger::queue_next(std::uint32_t thread) {
  const ThreadEvents& events = trace_.threads[thread];
  const std::size_t next = cursors_[thread].next;
  if (next < events.events.size()) ready_.push({events.orders[next], thread});
}

bool Merger::can_happen(const Event& event) const {
  switch (event.operation()) {
    case Operation::kAllocate:
    case Operation::kAllocateZeroed:
    case Operation::kResizeTo:
      return !live_.contains(event.address());
    case Operation::kFree:
    case Operation::kResizeFrom:
      return live_.contains(event.address());
    default:
      return true;
  }
}

void Merger::allocate(std::uint32_t thread, const Event& event, Happening::Kind kind) {
  Cursor& cursor = cursors_[thread];
  if (live_.contains(event.address())) {
    ++counts_.missed_frees;
    end(thread, event.address());
  }
  const bool is_resized = event.operation() == Operation::kResizeTo && cursor.resizing != kNone;
  const std::uint32_t block = is_resized ? std::exchange(cursor.resizing, kNone) : next_block_++;
  live_[event.address()] = block;
  tell_({is_resized ? Happening::Kind::kResize : kind, thread, block, event.size(), event.alignment_log2()});
}

void Merger::end(std::uint32_t thread, std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) {
    ++counts_.unknown_frees;
    return;
  }
  tell_({Happening::Kind::kFree, thread, found->second, 0, 0});
  live_.erase(found);
}

/// A resize whose second half is missing ends its block.
void Merger::give_up_resizing(std::uint32_t thread) {
  const std::uint32_t block = std::exchange(cursors_[thread].resizing, kNone);
  if (block != kNone) tell_({Happening::Kind::kFree, thread, block, 0, 0});
}

void Merger::happen(std::uint32_t thread) {
  const Event& event = event_of(thread);
  if (event.operation() != Operation::kResizeTo) give_up_resizing(thread);
  switch (event.operation()) {
    case Operation::kAllocate:
    case Operation::kResizeTo:
      allocate(thread, event, Happening::Kind::kAllocate);
      break;
    case Operation::kAllocateZeroed:
      allocate(thread, event, Happening::Kind::kAllocateZeroed);
      break;
    case Operation::kFree:
      end(thread, event.address());
      break;
    case Operation::kResizeFrom:
      if (const auto found = live_.find(event.address()); found != live_.end()) {
        cursors_[thread].resizing = found->second;
        live_.erase(found);
      } else {
        ++counts_.unknown_frees;
      }
      break;
    default:
      break;
  }
  ++cursors_[thread].next;
  queue_next(thread);
  if (!waiting_.empty()) wake(event.address());
}

/// What waits for a change of this address has another look.
void Merger::wake(std::uint64_t address) {
  const auto first = std::partition(waiting_.begin(), waiting_.end(), [&](const Turn& turn) {
    return event_of(turn.thread).address() != address;
  });
  for (auto turn = first; turn != waiting_.end(); ++turn) ready_.push(*turn);
  waiting_.erase(first, waiting_.end());
}

void Merger::force_first() {
  const auto first =
      std::min_element(waiting_.begin(), waiting_.end(), [](const Turn& a, const Turn& b) { return b > a; });
  const std::uint32_t thread = first->thread;
  waiting_.erase(first);
  happen(thread);
}

MergeCounts Merger::to_end() {
  const auto is_waiting_over = [this] {
    return !waiting_.empty() &&
           (ready_.empty() || std::any_of(waiting_.begin(), waiting_.end(), [this](const Turn& turn) {
              return turn.order < ready_.top().order;
            }));
  };
  while (!ready_.empty() || !waiting_.empty()) {
    if (is_waiting_over()) {
      force_first();
      continue;
    }
    const Turn turn = ready_.top();
    ready_.pop();
    if (can_happen(event_of(turn.thread)))
      happen(turn.thread);
    else
      waiting_.push_back(turn);
  }
  for (std::uint32_t thread = 0; thread < cursors_.size(); ++thread) give_up_resizing(thread);
  return counts_;
}

}  // namespace tarn::trace
