// What each key of `tarn top` does to the view, as a pure function.
#pragma once
#include <cstdint>

#include "look/processes/top_view.h"

namespace tarn::tool {

struct TopAction {
  enum class What : std::uint8_t {
    kNothing,  // the key is unknown
    kDraw,     // the view is another
    kLookNow,
    kRunCommand,  // another command of the tool: `command`
    kQuit
  } what = What::kNothing;
  const char* command = "";
};

/// \param page rows that a page scrolls; \param rows that there are.
TopAction take_key(int key, std::size_t page, std::size_t rows, TopState& state);

}  // namespace tarn::tool
