#include "observer/text/json_text.h"

#include "observer/text/printable.h"

namespace tarn::observer {
namespace {

Json shown(const Json& json) {
  if (json.is_string()) return printable_lines(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json copy = json.is_object() ? Json::object() : Json::array();
  if (json.is_array())
    for (const Json& entry : json) copy.push_back(shown(entry));
  else
    for (const auto& [name, entry] : json.items()) copy[printable(name)] = shown(entry);
  return copy;
}

// -- Pages -----------------------------------------------------------------------------------------------

std::string with_inserted(std::string text, const std::string& mark, const std::string& content) {
  return text.replace(text.find(mark), mark.size(), content);
}

}  // namespace

Json document_json(std::string_view schema, int version, std::string_view library, const Json& fields) {
  Json json = {{"schema", schema}, {"version", version}, {"library", library}};
  json.update(fields);
  return json;
}

std::string json_text(const Json& json, int indent) { return shown(json).dump(indent); }

std::string json_in_script(const Json& json) {
  std::string safe;
  for (const char c : json_text(json)) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

std::string page_text(const PageParts& parts, const Json& data) {
  std::string page = with_inserted(parts.frame, "@CSS@", parts.style);
  page = with_inserted(std::move(page), "@JS@", parts.script);
  return with_inserted(std::move(page), "@DATA@", json_in_script(data));
}

}  // namespace tarn::observer
