// Text put in the place of marks.
#include "page/page_text.h"

#include "observer/text/json_text.h"

namespace tarn::tool {
namespace {

std::string with_inserted(std::string text, const std::string& placeholder, const std::string& content) {
  return text.replace(text.find(placeholder), placeholder.size(), content);
}

}  // namespace

std::string page_text(const PageParts& parts, const Json& data) {
  std::string page = with_inserted(parts.frame, "@CSS@", parts.style);
  page = with_inserted(std::move(page), "@JS@", parts.script);
  return with_inserted(std::move(page), "@DATA@", observer::json_in_script(data));
}

}  // namespace tarn::tool
