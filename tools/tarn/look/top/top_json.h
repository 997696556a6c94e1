// What `tarn top --json` prints; docs/look/top.md describes it.
#pragma once
#include "look/processes/top_view.h"
#include "report/results.h"

namespace tarn::tool {

/// Of "schema_version": grows when a member goes or means something else.
inline constexpr int kTopSchemaVersion = 1;

Json top_json(const Look& look);

}  // namespace tarn::tool
