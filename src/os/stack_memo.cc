#include "os/stack_memo.h"

#include <cstring>

#include "os/unwind.h"
#include "os/unwind_step.h"

namespace tarn::internal::os {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uintptr_t address) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  const std::uint64_t word = hash ^ address;
  return (word ^ word >> 29) * kMix;
}

}  // namespace

std::uint64_t hash_of_stack(void* const* addresses, unsigned count) {
  std::uint64_t hash = 0;
  while (count-- > 0) hash = mixed(hash, reinterpret_cast<std::uintptr_t>(addresses[count]));
  return hash;
}

// Frames of the last walk, with their hashes, now follow upon those that this one has met.
void StackMemo::replace_inner(unsigned first_kept, unsigned kept, const Frame* met, unsigned met_count) {
  if (met_count != first_kept)
    std::memmove(frames_ + met_count, frames_ + first_kept, (kept + 1) * sizeof(Frame));
  std::memcpy(frames_, met, met_count * sizeof(Frame));
  count_ = met_count + kept;
  for (unsigned i = met_count; i-- > 0;) frames_[i].hash = mixed(frames_[i + 1].hash, frames_[i + 1].address);
}

#if defined(__x86_64__)

bool StackMemo::repeats(unsigned i, std::uintptr_t end) const {
  const Frame &frame = frames_[i], &next = frames_[i + 1];
  return next.stack_pointer() <= end && word_at(next.stack_pointer() - sizeof(void*)) == next.address &&
         (frame.hidden_saved_at == 0 || word_at(~frame.hidden_saved_at) == ~next.hidden_frame_pointer);
}

unsigned StackMemo::count_repeated(unsigned first, unsigned most, std::uintptr_t end) const {
  unsigned count = 0;
  while (count < most && first + count < count_ && repeats(first + count, end)) ++count;
  return count;
}

// Whether a walk that has met so many frames, the memo's last one at its end, is over.
bool StackMemo::ends_with(unsigned frames, unsigned most, std::uintptr_t end) const {
  if (frames == most) return true;
  const Frame& last = frames_[count_];
  StackPlace place{last.address, last.stack_pointer(), ~last.hidden_frame_pointer};
  std::uintptr_t saved_at = 0;
  return !step_to_caller(place, FrameKind::kCaller, end, &saved_at);
}

struct StackMemo::Walk {
  Walk(StackMemo& own, const StackPlace& start)
      : memo(own), place(start), end(end_of_stack(start.stack_pointer)) {}

  StackMemo& memo;
  StackPlace place;
  const std::uintptr_t end;
  unsigned old = 0;  // the memo's first frame that is not below the place
  unsigned count = 0;
  Frame met[kMostAddresses + 1];  // only what is counted was written

  static Frame frame_at(const StackPlace& at, std::uintptr_t hidden_saved_at) {
    return {at.address, ~at.stack_pointer, ~at.frame_pointer, hidden_saved_at, 0};
  }
  bool is_at_old_frame() {
    while (old < memo.count_ && memo.frames_[old].stack_pointer() < place.stack_pointer) ++old;
    const Frame& frame = memo.frames_[old];
    return old < memo.count_ && frame.stack_pointer() == place.stack_pointer &&
           frame.address == place.address && frame.hidden_frame_pointer == ~place.frame_pointer;
  }
  void add_old(unsigned frames) {
    std::memcpy(met + count, memo.frames_ + old, frames * sizeof(Frame));
    count += frames;
    old += frames;
    const Frame& next = memo.frames_[old];
    place = {next.address, next.stack_pointer(), ~next.hidden_frame_pointer};
  }
  // \returns false at the stack's end.
  bool add_next() {
    const StackPlace from = place;
    const FrameKind kind = count == 0 ? FrameKind::kInnermost : FrameKind::kCaller;
    std::uintptr_t saved_at = 0;
    if (!step_to_caller(place, kind, end, &saved_at)) return false;
    met[count++] = frame_at(from, saved_at == 0 ? 0 : ~saved_at);
    return true;
  }
  // Leaves in the memo what was met.
  void run(unsigned most) {
    while (count < most) {
      if (is_at_old_frame()) {
        const unsigned repeated = memo.count_repeated(old, most - count, end);
        if (old + repeated == memo.count_ && memo.ends_with(count + repeated, most, end))
          return memo.replace_inner(old, repeated, met, count);
        add_old(repeated);
      }
      if (count == most || !add_next()) break;
    }
    memo.frames_[count] = frame_at(place, 0);
    memo.replace_inner(count, 0, met, count);
  }
};

[[gnu::noinline]] unsigned StackMemo::capture(void** addresses, unsigned most) {
  const StackPlace here = this_place();
  const std::uint64_t rules = generation_of_rules();
  if (generation_ != rules) count_ = 0;
  generation_ = rules;
  Walk walk(*this, here);
  walk.run(most);
  for (unsigned i = 0; i < count_; ++i) addresses[i] = reinterpret_cast<void*>(frames_[i + 1].address);
  return count_;
}

#else

[[gnu::noinline]] unsigned StackMemo::capture(void** addresses, unsigned most) {
  count_ = capture_stack(addresses, most);
  frames_[0].hash = hash_of_stack(addresses, count_);
  return count_;
}

#endif

}  // namespace tarn::internal::os
