// Text put in the place of marks.
#include "page/page_text.h"

namespace tarn::tool {
namespace {

/// JSON that can stand inside a script element: what might end it is written as an escape.
std::string script_safe(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

std::string with_inserted(std::string text, const std::string& placeholder, const std::string& content) {
  return text.replace(text.find(placeholder), placeholder.size(), content);
}

}  // namespace

std::string page_text(const PageParts& parts, const Json& data) {
  std::string page = with_inserted(parts.frame, "@CSS@", parts.style);
  page = with_inserted(std::move(page), "@JS@", parts.script);
  return with_inserted(std::move(page), "@DATA@", script_safe(data));
}

}  // namespace tarn::tool
