// Pages of the tool: one HTML file that needs nothing else. A frame, its style, its script and the data as
// JSON are put together as text.
#pragma once
#include <string>

#include "observer/text/json_text.h"

namespace tarn::observer {

/// What CMake compiled in of a page's folder (cmake/page.cmake).
struct PageParts {
  const char* frame;  // holds @CSS@, @JS@ and @DATA@
  const char* style;
  const char* script;
};

std::string page_text(const PageParts& parts, const Json& data);

}  // namespace tarn::observer
