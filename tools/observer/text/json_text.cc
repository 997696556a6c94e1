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

}  // namespace

std::string json_text(const Json& json, int indent) { return shown(json).dump(indent); }

std::string json_in_script(const Json& json) {
  std::string safe;
  for (const char c : json_text(json)) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

}  // namespace tarn::observer
