#include "profile/stacks/json.h"

namespace tarn::profile {

Json to_json(const Amount& amount) {
  return {{"blocks", whole(amount.blocks)}, {"bytes", whole(amount.bytes)}};
}

Json to_json(const Amount& amount, Rounding& blocks, Rounding& bytes) {
  return {{"blocks", blocks(amount.blocks)}, {"bytes", bytes(amount.bytes)}};
}

const char* name_of(FrameRole role) {
  return role == FrameRole::kProgram ? "program" : role == FrameRole::kWrapper ? "wrapper" : "library";
}

Json to_json(const Frame& frame) {
  Json json = {{"function", frame.function}};
  if (!frame.file.empty()) json["file"] = frame.file;
  if (frame.line != 0) json["line"] = frame.line;
  if (frame.is_inlined) json["inlined"] = true;
  if (frame.role != FrameRole::kProgram) json["role"] = name_of(frame.role);
  return json;
}

Json to_json(const std::vector<Frame>& frames) {
  Json json = Json::array();
  for (const Frame& frame : frames) json.push_back(to_json(frame));
  return json;
}

Json pool_json(const std::string& pool) { return pool.empty() ? Json(nullptr) : Json(pool); }

std::string text_of(const Json& json) { return observer::json_text(json) + "\n"; }

}  // namespace tarn::profile
