// Pages of the tool: one HTML file that needs nothing else. A frame, its style, its script and the data as
// JSON are put together as text.
#pragma once
#include <string>

#include "report/results.h"

namespace tarn::tool {

/// What CMake compiled in of a page's folder.
struct PageParts {
  const char* frame;  // holds @CSS@, @JS@ and @DATA@
  const char* style;
  const char* script;
};

std::string page_text(const PageParts& parts, const Json& data);

}  // namespace tarn::tool
