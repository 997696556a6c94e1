// The memory of a look as `tarn ps` and `tarn watch` tell it: RSS, and its parts.
#pragma once
#include <string_view>
#include <vector>

#include "look/processes/top_view.h"
#include "report/results.h"
#include "report/table.h"

namespace tarn::tool {

Json memory_json(const Look& look);

/// A line of it.
std::string memory_line(const Look& look);

/// Of what memory_json() has made. \param figure "rss", or the key of a part
std::uint64_t bytes_of(const Json& memory, std::string_view figure);

inline constexpr const char* kMemoryTitles[] = {"RSS", "live", "cached", "free", "metadata", "not tarn"};

/// A cell for each title.
std::vector<Cell> memory_cells(const Json& memory);

}  // namespace tarn::tool
