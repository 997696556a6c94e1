// Measurements as JSON: raw runs, their summaries, and the machine. The pieces serve every command that
// measures; docs/command.md says what the names of fields do not.
#pragma once
#include <string>

#include "observer/text/json_text.h"
#include "report/figures.h"
#include "system/files/machine.h"

namespace tarn::tool {

using Json = observer::Json;

Json to_json(const Measurement& run);
Json to_json(const Machine& machine);
Json to_json(const Failure& failure);
/// A contender's summary beside the best one of all contenders, and the system allocator's (count 0: it has
/// none).
Json compared_to_json(const Summary& own, const Summary& best, const Summary& of_system);

/// What every result file begins with: which command made it, with which version, where and when.
Json result_header(const std::string& command_name);

/// A result as it would begin now. \why the committed ones are older than its schema
Json with_present_head(Json result);

/// Text of a JSON value, without what may not be shown.
std::string text_of(const Json& json);

/// "s", "bytes" or "count".
const char* unit_of(Quantity quantity);

/// Of each contender its library, failure and summaries, and a list for its runs.
Json to_json(const Figures& figures);

}  // namespace tarn::tool
