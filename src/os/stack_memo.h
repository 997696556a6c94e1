// What the last walk along a thread's stack met, so that the next one need not look up the rules of frames
// that are still there: of a program's calls of malloc, most have their outer frames in common with the one
// before.
//
// A frame's rule depends on its address alone, and what it leads to on the stack pointer, the frame pointer
// and two words of the stack. So where a walk comes to a place that the last one met, and these words are
// what they were, it leads on to the same places: two loads and compares a frame.
//
// Invariant: frames_[i + 1] is the place that frames_[i] led to, for each i < count_; the hash of frames_[i]
// is that of all addresses behind it, beginning with the outermost.
// Threads: a memo is one thread's.
#pragma once
#include <cstdint>

namespace tarn::internal::os {

/// Of the addresses of a stack, the innermost first.
std::uint64_t hash_of_stack(void* const* addresses, unsigned count);

/// All zeros is one that has met nothing.
class StackMemo {
 public:
  static constexpr unsigned kMostAddresses = 64;

  /// As capture_stack (unwind.h). \pre most <= kMostAddresses, and is the same each time
  unsigned capture(void** addresses, unsigned most);
  /// Of what was captured last.
  std::uint64_t hash() const { return count_ == 0 ? 0 : frames_[0].hash; }

 private:
  struct Frame {
    std::uintptr_t address;
    // All bits inverted, so that they keep no block from being a leak: a frame pointer may be any address,
    // and a stack may lie in a block.
    std::uintptr_t hidden_stack_pointer, hidden_frame_pointer;
    std::uintptr_t hidden_saved_at;  // where the caller's frame pointer lies; 0: it is the same
    std::uint64_t hash;

    std::uintptr_t stack_pointer() const { return ~hidden_stack_pointer; }
  };
  struct Walk;

  bool repeats(unsigned i, std::uintptr_t end) const;
  unsigned count_repeated(unsigned first, unsigned most, std::uintptr_t end) const;
  bool ends_with(unsigned frames, unsigned most, std::uintptr_t end) const;
  void replace_inner(unsigned first_kept, unsigned kept, const Frame* met, unsigned met_count);

  std::uint64_t generation_ = 0;  // of the rules
  unsigned count_ = 0;
  Frame frames_[kMostAddresses + 1] = {};
};

}  // namespace tarn::internal::os
