#include "look/top/top_keys.h"

#include <algorithm>

#include "look/top/screen.h"

namespace tarn::tool {
namespace {

using What = TopAction::What;

void scroll(TopState& state, std::ptrdiff_t rows, std::size_t count) {
  const auto last = static_cast<std::ptrdiff_t>(count == 0 ? 0 : count - 1);
  const auto first = static_cast<std::ptrdiff_t>(std::min(state.first(), count));
  state.first() = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(first + rows, 0, last));
}

bool take_scroll_key(int key, std::size_t page, std::size_t rows, TopState& state) {
  const auto all = static_cast<std::ptrdiff_t>(rows), one_page = static_cast<std::ptrdiff_t>(page);
  switch (key) {
    case kKeyUp:
      scroll(state, -1, rows);
      return true;
    case kKeyDown:
      scroll(state, 1, rows);
      return true;
    case kKeyPageUp:
      scroll(state, -one_page, rows);
      return true;
    case kKeyPageDown:
      scroll(state, one_page, rows);
      return true;
    case kKeyHome:
      scroll(state, -all, rows);
      return true;
    case kKeyEnd:
      scroll(state, all, rows);
      return true;
    default:
      return false;
  }
}

const char* command_of_key(int key) {
  switch (key) {
    case 'm':
      return "map";
    case 'h':
      return "heap";
    case 'l':
      return "leaks";
    case 'd':
      return "doctor";
    default:
      return nullptr;
  }
}

TopView next_view(TopView view) {
  return static_cast<TopView>((static_cast<std::size_t>(view) + 1) % kTopViews);
}

}  // namespace

TopAction take_key(int key, std::size_t page, std::size_t rows, TopState& state) {
  if (key == 'q' || key == kKeyQuit) return {What::kQuit};
  if (state.shows_help) {
    state.shows_help = false;
    return {What::kDraw};
  }
  if (take_scroll_key(key, page, rows, state)) return {What::kDraw};
  if (const char* command = command_of_key(key)) return {What::kRunCommand, command};
  if (key >= '1' && key < '1' + static_cast<int>(kTopViews))
    state.view = static_cast<TopView>(key - '1');
  else if (key == '\t')
    state.view = next_view(state.view);
  else if (key == 's')
    state.order() = next_order(state.view, state.order());
  else if (key == 'p')
    state.is_paused = !state.is_paused;
  else if (key == '?')
    state.shows_help = true;
  else if (key == ' ')
    return {What::kLookNow};
  else if (key != kKeyResize)
    return {};
  return {What::kDraw};
}

}  // namespace tarn::tool
