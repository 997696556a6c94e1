#include "os/stack/stack_memo.h"

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "base/units.h"
#include "os/stack/unwind.h"

namespace tarn::internal::os {
std::uint64_t hash_of_stack(void* const* addresses, unsigned count) {
  std::uint64_t hash = 0;
  while (count-- > 0) hash = mixed(hash ^ address_of(addresses[count]));
  return hash;
}

// Frames of the last walk, with their hashes, now follow upon those that this one has met.
void StackMemo::replace_inner(unsigned first_kept, unsigned kept, const Frame* met, unsigned met_count) {
  Frame* const frames = this->frames();
  if (met_count != first_kept)
    std::memmove(frames + met_count, frames + first_kept, (kept + 1) * sizeof(Frame));
  std::memcpy(frames, met, met_count * sizeof(Frame));
  count_ = met_count + kept;
  for (unsigned i = met_count; i-- > 0;) frames[i].hash = mixed(frames[i + 1].hash ^ frames[i + 1].address);
}

#if defined(TARN_STEPS_ALONG_FRAMES)

bool StackMemo::repeats(unsigned i, StackBounds& bounds) {
  const Frame &frame = frames()[i], &next = frames()[i + 1];
  return bounds.reach(next.stack_pointer()) &&
         word_at(next.stack_pointer() - sizeof(void*)) == next.address &&
         (frame.hidden_saved_at == 0 || word_at(~frame.hidden_saved_at) == ~next.hidden_frame_pointer);
}

unsigned StackMemo::count_repeated(unsigned first, unsigned most, StackBounds& bounds) {
  unsigned count = 0;
  while (count < most && first + count < count_ && repeats(first + count, bounds)) ++count;
  return count;
}

namespace {

bool step_from(StackPlace& place, StackBounds& bounds) {
  std::uintptr_t saved_at = 0;
  return step_to_caller(place, FrameKind::kCaller, bounds, &saved_at);
}

}  // namespace

// Whether a walk that has met so many frames, the memo's last one at its end, is over.
bool StackMemo::ends_with(unsigned frames, unsigned most, StackBounds& bounds) {
  if (frames == most) return true;
  const Frame& last = this->frames()[count_];
  StackPlace place{last.address, last.stack_pointer(), ~last.hidden_frame_pointer};
  return !step_from(place, bounds);
}

// Whether the outermost addresses lie where the last walk to them found them.
bool StackMemo::outer_stand(StackBounds& bounds) const {
  for (unsigned i = 0; i < outer_count_; ++i)
    if (!bounds.reach(outer_[i].stack_pointer()) ||
        word_at(outer_[i].stack_pointer() - sizeof(void*)) != outer_[i].address)
      return false;
  return outer_count_ != 0;
}

// Walks on from the memo's last frame to the stack's end.
void StackMemo::find_outer(StackBounds& bounds) {
  const Frame& last = frames()[count_];
  StackPlace place{last.address, last.stack_pointer(), ~last.hidden_frame_pointer};
  std::memcpy(outer_, &last - (kOuterAddresses - 1), sizeof outer_);
  unsigned next = 0;  // the outermost one that is replaced by the next
  for (; step_from(place, bounds); next = (next + 1) % kOuterAddresses)
    outer_[next] = {place.address, ~place.stack_pointer, ~place.frame_pointer, 0, 0};
  std::rotate(outer_, outer_ + next, outer_ + kOuterAddresses);
  outer_count_ = kOuterAddresses;
}

// Whether the stack has frames behind the memo's last one.
bool StackMemo::goes_on() {
  return outer_count_ != 0 && frames()[count_].stack_pointer() < outer_[kOuterAddresses - 1].stack_pointer();
}

struct StackMemo::Walk {
  Walk(StackMemo& own, const StackPlace& start, unsigned most)
      : memo(own), place(start), bounds(start.stack_pointer, own.known_), met(own.frames() + most + 1) {}

  StackMemo& memo;
  StackPlace place;
  StackBounds bounds;
  bool has_joined = false;  // met frames of the last walk
  unsigned old = 0;         // the memo's first frame that is not below the place
  unsigned count = 0;
  Frame* const met;  // only what is counted was written

  static Frame frame_at(const StackPlace& at, std::uintptr_t hidden_saved_at) {
    return {at.address, ~at.stack_pointer, ~at.frame_pointer, hidden_saved_at, 0};
  }
  bool is_at_old_frame() {
    const Frame* const frames = memo.frames();
    while (old < memo.count_ && frames[old].stack_pointer() < place.stack_pointer) ++old;
    const Frame& frame = frames[old];
    return old < memo.count_ && frame.stack_pointer() == place.stack_pointer &&
           frame.address == place.address && frame.hidden_frame_pointer == ~place.frame_pointer;
  }
  void add_old(unsigned frames) {
    std::memcpy(met + count, memo.frames() + old, frames * sizeof(Frame));
    count += frames;
    old += frames;
    const Frame& next = memo.frames()[old];
    place = {next.address, next.stack_pointer(), ~next.hidden_frame_pointer};
  }
  // \returns false at the stack's end.
  bool add_next() {
    const StackPlace from = place;
    const FrameKind kind = count == 0 ? FrameKind::kInnermost : FrameKind::kCaller;
    std::uintptr_t saved_at = 0;
    if (!step_to_caller(place, kind, bounds, &saved_at)) return false;
    met[count++] = frame_at(from, saved_at == 0 ? 0 : ~saved_at);
    return true;
  }
  // Leaves in the memo what was met.
  void run(unsigned most) {
    while (count < most) {
      if (is_at_old_frame()) {
        const unsigned repeated = memo.count_repeated(old, most - count, bounds);
        has_joined |= repeated != 0;
        if (old + repeated == memo.count_ && memo.ends_with(count + repeated, most, bounds))
          return memo.replace_inner(old, repeated, met, count);
        add_old(repeated);
      }
      if (count == most || !add_next()) break;
    }
    memo.frames()[count] = frame_at(place, 0);
    memo.replace_inner(count, 0, met, count);
  }
  // Of a stack that may have more frames than were asked for.
  void know_outer() {
    if (!has_joined || !memo.outer_stand(bounds)) memo.find_outer(bounds);
  }
};

[[gnu::noinline]] CapturedStack StackMemo::capture(unsigned most) {
  const StackPlace here = this_place();
  const std::uint64_t rules = generation_of_rules();
  // A file was loaded or unloaded: what was known of the frames may be of other code.
  if (generation_ != rules) count_ = 0;
  generation_ = rules;
  Walk walk(*this, here, most);
  walk.run(most);
  if (!walk.has_joined) outer_count_ = 0;
  if (count_ == most) walk.know_outer();
  walk.bounds.note_known();
  auto** const addresses = reinterpret_cast<void**>(frames() + 2 * (most + 1));
  for (unsigned i = 0; i < count_; ++i) addresses[i] = reinterpret_cast<void*>(frames()[i + 1].address);
  if (count_ < most || !goes_on()) return {addresses, count_, count_ == 0 ? 0 : frames()[0].hash};
  // Too deep: the innermost frames, a mark, and the outermost, which say whose work it is.
  void** const outer = addresses + most - kOuterAddresses;
  outer[-1] = reinterpret_cast<void*>(kLeftOut);
  for (unsigned i = 0; i < kOuterAddresses; ++i) outer[i] = reinterpret_cast<void*>(outer_[i].address);
  return {addresses, count_, hash_of_stack(addresses, count_)};
}

#else

[[gnu::noinline]] CapturedStack StackMemo::capture(unsigned most) {
  auto** const addresses = reinterpret_cast<void**>(frames());
  count_ = capture_stack(addresses, most);
  return {addresses, count_, hash_of_stack(addresses, count_)};
}

#endif

}  // namespace tarn::internal::os
