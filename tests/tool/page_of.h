// A page of figures as its script reads it.
#pragma once
#include <string>

#include "report/results.h"

namespace tarn::tool {

inline Json document_in(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="document">)";
  const std::size_t from = page.find(begin) + begin.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

/// The first part with such a title in any section; null if there is none.
inline Json part_titled(const Json& document, const std::string& title) {
  for (const Json& section : document.at("sections"))
    for (const Json& part : section.at("parts"))
      if (part.at("title") == title) return part;
  return nullptr;
}

}  // namespace tarn::tool
