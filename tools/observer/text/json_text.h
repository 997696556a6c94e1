// JSON as text, and pages that hold it: the one way by which documents leave the tool.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tarn::observer {

using Json = nlohmann::ordered_json;

/// A document: schema, version and library, and then the fields. \param schema what it is: "tarn top".
/// \param version of the schema: fields are added without a new one. \param library version of the tarn that
/// it tells of
Json document_json(std::string_view schema, int version, std::string_view library, const Json& fields);

/// The text of a document without what may not be shown (src/base/printable.h) in its strings; ends of
/// lines stay, as escapes. \param indent -1: in one line
std::string json_text(const Json& json, int indent = -1);

/// The same, to stand inside of a script element: what might end that is written as an escape.
std::string json_in_script(const Json& json);

// -- Pages: one HTML file that needs nothing else ---------------------------------------------------------

/// What CMake compiled in of a page's folder (cmake/page.cmake).
struct PageParts {
  const char* frame;  // holds @CSS@, @JS@ and @DATA@
  const char* style;
  const char* script;
};

/// Frame, style, script and the data as JSON, put together as text.
std::string page_text(const PageParts& parts, const Json& data);

}  // namespace tarn::observer
