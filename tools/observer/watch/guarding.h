// The words by which a tool lets a program guard a sample of its blocks (src/thread/observation/
// guard_turns.h), and what they tell. Nothing of the program is stopped, and it goes on when the tool has
// ended.
//
// Threads: one at a time.
#pragma once
#include <cstdint>

#include "observer/process/source.h"
#include "observer/records/layout.h"

namespace tarn::observer {

struct Guarding {
  std::uint64_t one_in = 0;  // 0: no block from now on
  std::uint64_t live = 0;    // blocks that are guarded now
  std::uint64_t made = 0;    // since the program began
  bool is_noticed = false;   // a call of the program has seen the last switch
};

class GuardWords {
 public:
  /// \throws ObserveError when the program has no tarn, or one without guards.
  explicit GuardWords(const Source& source);

  Guarding read() const;
  /// Its version.
  std::string library() const { return layout_.version(); }
  /// \pre the source is a process. \throws ObserveError when its memory may not be written, or it has ended;
  /// when an option of the program keeps it from guarding blocks.
  void set(std::uint32_t one_in) const;

 private:
  std::uint64_t number(std::string_view root, std::string_view field) const;

  const Source& source_;
  Layout layout_;
};

}  // namespace tarn::observer
