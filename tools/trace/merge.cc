// The queue of threads, and what each event does to the set of live blocks.
#include "trace/merge.h"

#include <algorithm>
#include <utility>

namespace tarn::trace {

Merger::Merger(EventSource& source, Tell tell)
    : source_(source), tell_(std::move(tell)), cursors_(source.thread_count()) {
  for (std::uint32_t thread = 0; thread < cursors_.size(); ++thread) queue_next(thread);
}

/// The chunk in which a thread's next event lies.
ThreadEvents& Merger::held(std::uint32_t thread) {
  Cursor& cursor = cursors_[thread];
  cursor.used_at = ++uses_;
  if (!cursor.held.events.empty()) return cursor.held;
  cursor.held = source_.chunk(thread, cursor.chunk);
  events_held_ += cursor.held.events.size();
  if (events_held_ > kMostEvents) drop_chunks_beside(thread);
  return cursor.held;
}

/// \why a trace of thousands of threads would else be in memory whole
void Merger::drop_chunks_beside(std::uint32_t thread) {
  const std::uint64_t old_enough = cursors_[thread].used_at - std::min<std::uint64_t>(uses_, 64);
  for (Cursor& cursor : cursors_) {
    if (cursor.held.events.empty() || &cursor == &cursors_[thread] || cursor.used_at > old_enough) continue;
    events_held_ -= cursor.held.events.size();
    cursor.held = {};
  }
}

void Merger::go_on(std::uint32_t thread) {
  Cursor& cursor = cursors_[thread];
  if (++cursor.next == cursor.held.events.size()) {
    events_held_ -= cursor.held.events.size();
    cursor.held = {};
    cursor.next = 0;
    ++cursor.chunk;
  }
  queue_next(thread);
}

void Merger::queue_next(std::uint32_t thread) {
  if (cursors_[thread].chunk < source_.chunk_count(thread))
    ready_.push({held(thread).orders[cursors_[thread].next], thread});
}

std::uint32_t Merger::new_number() {
  if (free_numbers_.empty()) return next_block_++;
  const std::uint32_t number = free_numbers_.back();
  free_numbers_.pop_back();
  return number;
}

void Merger::tell_end(std::uint32_t thread, std::uint32_t block) {
  if (!is_stopped_) tell_({Happening::Kind::kFree, thread, block, 0, 0});
  free_numbers_.push_back(block);
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
  const std::uint32_t block = is_resized ? std::exchange(cursor.resizing, kNone) : new_number();
  live_[event.address()] = block;
  tell_({is_resized ? Happening::Kind::kResize : kind, thread, block, event.size(), event.alignment_log2()});
}

void Merger::end(std::uint32_t thread, std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) {
    ++counts_.unknown_frees;
    return;
  }
  tell_end(thread, found->second);
  live_.erase(found);
}

/// A resize whose second half is missing ends its block.
void Merger::give_up_resizing(std::uint32_t thread) {
  const std::uint32_t block = std::exchange(cursors_[thread].resizing, kNone);
  if (block != kNone) tell_end(thread, block);
}

void Merger::happen(std::uint32_t thread) {
  const Event event = event_of(thread);
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
  go_on(thread);
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
  while (!is_stopped_ && (!ready_.empty() || !waiting_.empty())) {
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
