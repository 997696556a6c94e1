// Text put in the place of marks.
#include "observer/text/page_text.h"

namespace tarn::observer {
namespace {

std::string with_inserted(std::string text, const std::string& mark, const std::string& content) {
  return text.replace(text.find(mark), mark.size(), content);
}

}  // namespace

std::string page_text(const PageParts& parts, const Json& data) {
  std::string page = with_inserted(parts.frame, "@CSS@", parts.style);
  page = with_inserted(std::move(page), "@JS@", parts.script);
  return with_inserted(std::move(page), "@DATA@", json_in_script(data));
}

}  // namespace tarn::observer
