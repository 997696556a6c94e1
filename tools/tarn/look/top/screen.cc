#include "look/top/screen.h"

#include <curses.h>
#include <fmt/format.h>
#include <locale.h>
#include <poll.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace tarn::tool {
namespace {

enum ColourPair : short { kGoodPair = 1, kBadPair };

/// \why the lines are UTF-8, whatever the locale is: so are most terminals, also those in a container without
/// a locale in its environment.
void use_utf8() {
  setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
}

void set_up_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  if (!has_colors() || (no_color != nullptr && *no_color != 0)) return;
  start_color();
  use_default_colors();
  init_pair(kGoodPair, COLOR_GREEN, -1);
  init_pair(kBadPair, COLOR_RED, -1);
}

attr_t attributes_of(Style style) {
  switch (style) {
    case Style::kHeading:
      return A_BOLD;
    case Style::kFaint:
      return A_DIM;
    case Style::kGood:
      return static_cast<attr_t>(COLOR_PAIR(kGoodPair));
    case Style::kBad:
      return static_cast<attr_t>(COLOR_PAIR(kBadPair));
    case Style::kPlain:
      break;
  }
  return A_NORMAL;
}

int key_of(int code) {
  switch (code) {
    case ERR:
      return kNoKey;
    case KEY_UP:
      return kKeyUp;
    case KEY_DOWN:
      return kKeyDown;
    case KEY_PPAGE:
      return kKeyPageUp;
    case KEY_NPAGE:
      return kKeyPageDown;
    case KEY_HOME:
      return kKeyHome;
    case KEY_END:
      return kKeyEnd;
    case KEY_RESIZE:
      return kKeyResize;
    default:
      return code;
  }
}

bool asks_to_end(const ReceivedSignal& signal) { return signal.number != SIGCHLD; }

}  // namespace

Screen::Screen() {
  use_utf8();
  // \why not initscr(): it ends the tool where it does not know the terminal.
  if (newterm(nullptr, stdout, stdin) == nullptr) {
    const char* kind = std::getenv("TERM");
    throw std::runtime_error(fmt::format(
        "the terminal '{}' is not known here: set TERM=xterm, or take --once", kind != nullptr ? kind : ""));
  }
  set_up_colours();
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
}

Screen::~Screen() { endwin(); }

std::size_t Screen::width() const { return static_cast<std::size_t>(getmaxx(stdscr)); }
std::size_t Screen::height() const { return static_cast<std::size_t>(getmaxy(stdscr)); }

void Screen::draw(const std::vector<Line>& lines) {
  erase();
  for (std::size_t row = 0; row < lines.size() && row < height(); ++row) {
    move(static_cast<int>(row), 0);
    for (const Cell& cell : lines[row]) {
      attrset(static_cast<int>(attributes_of(cell.style)));
      addnstr(cell.text.data(), static_cast<int>(cell.text.size()));
    }
  }
  refresh();
}

int Screen::key(double seconds) {
  if (const int typed = key_of(getch()); typed != kNoKey) return typed;
  pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}};
  const int ready = poll(sources, 2, static_cast<int>(std::ceil(seconds * 1000)));
  while (const auto signal = signals_.next())
    if (asks_to_end(*signal)) return kKeyQuit;
  if (ready > 0 && (sources[0].revents & (POLLHUP | POLLERR)) != 0) return kKeyQuit;  // the terminal is gone
  return key_of(getch());
}

void Screen::leave() {
  def_prog_mode();
  endwin();
}

void Screen::wait_for_any_key() {
  fmt::print("\n[any key: back]");
  std::fflush(stdout);
  reset_prog_mode();  // a key counts at once, without Enter
  while (key(3600) == kNoKey) {
  }
}

void Screen::enter_again() {
  clearok(stdscr, TRUE);
  refresh();
}

}  // namespace tarn::tool
