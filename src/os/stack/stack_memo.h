// What the last walk along a thread's stack met, so that the next one need not look up the rules of frames
// that are still there: most of a program's calls of malloc have their outer frames in common with the one
// before. A frame's rule depends on its address alone, and what it leads to on the stack pointer, the frame
// pointer and two words of the stack. So where a walk comes to a place that the last one met, and these words
// are what they were, it leads on to the same places: two loads and compares a frame.
//
// Of a stack that is deeper than what is asked for, the innermost addresses are kept, a mark, and the
// outermost ones. These are walked to once; while walks meet frames of the one before, only their words are
// compared, and the frames between are not walked again.
//
// Invariant: frames()[i + 1] is the place that frames()[i] led to, for each i < count_; the hash of
// frames()[i] is that of all addresses behind it, beginning with the outermost.
// Threads: a memo is one thread's.
#pragma once
#include <cstddef>
#include <cstdint>

#include "os/stack/stack_bounds.h"

namespace tarn::internal::os {

/// Of the addresses of a stack, the innermost first.
std::uint64_t hash_of_stack(void* const* addresses, unsigned count);

/// A stack's addresses, the innermost first. They lie in the memo until its next walk.
struct CapturedStack {
  void* const* addresses;
  unsigned count;
  std::uint64_t hash;
};

/// All zeros is one that has met nothing. Its frames follow it in memory: bytes_for() says how much it needs.
class StackMemo {
 public:
  static constexpr unsigned kFewestAddresses = 16, kMostAddresses = 1024;
  static constexpr unsigned kOuterAddresses = 8;  // of a stack that is cut
  /// Stands where addresses of a stack were left out.
  static constexpr std::uintptr_t kLeftOut = 1;

  static constexpr std::size_t bytes_for(unsigned most) {
    return sizeof(StackMemo) + (most + 1) * (2 * sizeof(Frame) + sizeof(void*));
  }

  /// The return addresses of the calling thread's stack, the caller's first. \pre kFewestAddresses <= most <=
  /// kMostAddresses, the same each time; the memo has bytes_for(most)
  CapturedStack capture(unsigned most);

 private:
  // All bits inverted, so that they keep no block from being a leak: a frame pointer may be any address, and
  // a stack may lie in a block.
  struct Frame {
    std::uintptr_t address;
    std::uintptr_t hidden_stack_pointer, hidden_frame_pointer;
    std::uintptr_t hidden_saved_at;  // where the caller's frame pointer lies; 0: it is the same
    std::uint64_t hash;

    std::uintptr_t stack_pointer() const { return ~hidden_stack_pointer; }
  };
  struct Walk;

  Frame* frames() { return reinterpret_cast<Frame*>(this + 1); }
  bool repeats(unsigned i, StackBounds& bounds);
  unsigned count_repeated(unsigned first, unsigned most, StackBounds& bounds);
  bool ends_with(unsigned frames, unsigned most, StackBounds& bounds);
  void replace_inner(unsigned first_kept, unsigned kept, const Frame* met, unsigned met_count);
  bool outer_stand(StackBounds& bounds) const;
  void find_outer(StackBounds& bounds);
  bool goes_on();

  std::uint64_t generation_ = 0;  // of the rules
  unsigned count_ = 0;
  unsigned outer_count_ = 0;  // 0: not known
  Frame outer_[kOuterAddresses] = {};
  KnownStack known_ = {};
};

}  // namespace tarn::internal::os
