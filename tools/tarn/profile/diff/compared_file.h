// A file of which `tarn diff` knows what became more: what wrote it, and the figures in it.
#pragma once
#include <string>

#include "profile/diff/figure_changes.h"

namespace tarn::tool {

// What writes such files; of documents, their schema.
inline constexpr const char *kOfProfile = "tarn profile", *kOfHeap = "tarn heap", *kOfRecord = "tarn record",
                            *kOfTop = "tarn top", *kOfMap = "tarn map";

struct ComparedFile {
  std::string path, kind;
  Json document;  // of a trace: none
};

/// \throws UsageError for one that cannot be read, or holds nothing that can be compared
ComparedFile open_compared(const std::string& path);

/// Of a trace, or a snapshot. \throws UsageError, an exception of the JSON library: it is damaged
ComparedFigures figures_of(const ComparedFile& file);

}  // namespace tarn::tool
