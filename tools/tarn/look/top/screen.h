// The terminal as a page of lines and a source of keys: ncurses, and nothing of it outside of screen.cc. What
// stood on the terminal is there again when the screen ends, also when a signal ends the tool.
//
// Threads: the main thread alone; one screen at a time.
#pragma once
#include <vector>

#include "report/table.h"
#include "system/processes/signals.h"

namespace tarn::tool {

/// Keys that are no character, beside those that are.
enum Key : int {
  kNoKey = 0,
  kKeyUp = 0x10000,
  kKeyDown,
  kKeyPageUp,
  kKeyPageDown,
  kKeyHome,
  kKeyEnd,
  kKeyResize,  // the size of the screen is another
  kKeyQuit     // a signal asks the tool to end
};

class Screen {
 public:
  /// \throws std::runtime_error where the terminal is unknown: the message says what to do.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  std::size_t width() const;
  std::size_t height() const;
  /// Only what differs from the lines before is sent to the terminal.
  void draw(const std::vector<Line>& lines);
  /// Waits for a key. \returns kNoKey when there was none for so long.
  int key(double seconds);
  /// Gives the terminal to `work`, then waits for a key and takes it back.
  template <typename Work>
  void lend(Work work) {
    leave();
    work(signals_);
    wait_for_any_key();
    enter_again();
  }

 private:
  void leave();
  void wait_for_any_key();
  void enter_again();

  SignalWatch signals_;
};

}  // namespace tarn::tool
