// How far a walk may read the stack that its thread runs on.
//
// The page of the stack pointer can be read. Each page behind it is asked of the kernel before it is read, so
// that a walk ends before a guard, whatever stack a thread is on: a coroutine's, a signal's, its own. A
// thread's own stack is asked once: it stays as it is as far as the thread's control block, which lies at its
// end, or for the main thread as far as where the loader began.
//
// The question is rt_sigprocmask with a bad way to change the mask: the kernel reads the mask first, and
// changes nothing (idea: abseil, address_is_readable.cc). Where the program filters its calls of the system
// nothing is asked, and what is not known to be readable is not read.
//
// Threads: one walk's.
#pragma once
#include <cstdint>

namespace tarn::internal::os {

/// What is known of a thread's own stack. All bits inverted, so that they keep no block from being a leak: a
/// stack may lie in a block.
struct KnownStack {
  std::uintptr_t hidden_start, hidden_end;
};

class StackBounds {
 public:
  /// \param stack_pointer of the calling thread
  StackBounds(std::uintptr_t stack_pointer, KnownStack& known);

  /// \returns whether all from the stack pointer to `end` can be read.
  bool reach(std::uintptr_t end) { return end <= readable_end_ || extend(end); }
  /// The walk is over: what it has learned of the thread's own stack stays known.
  void note_known();

 private:
  bool extend(std::uintptr_t end);
  /// Whether `known_` is of the stack that the walk is on.
  bool knows_own_stack() const { return own_end_ != 0 && ~known_.hidden_end == own_end_; }

  KnownStack& known_;
  const std::uintptr_t start_;  // of the stack pointer's page
  std::uintptr_t own_end_;      // of the thread's own stack; 0: the stack pointer is far from there
  std::uintptr_t readable_end_;
};

/// Whether a page can be read. \param page its first byte
bool is_readable(std::uintptr_t page);

}  // namespace tarn::internal::os
