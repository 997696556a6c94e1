// A census as JSON: what `tarn heap --json` prints, --save writes and --since reads.
#pragma once
#include <string>
#include <vector>

#include "observer/objects/census.h"
#include "observer/snapshot/snapshot.h"
#include "report/results.h"

namespace tarn::tool {

inline constexpr int kHeapDocumentVersion = 1;

Json heap_document(const observer::Snapshot& snapshot, const observer::Census& census,
                   observer::Contents contents);

Json heap_growth_document(const std::vector<observer::Growth>& growth, double seconds);

struct EarlierCensus {
  double time = 0;  // seconds since 1970
  std::string program;
  bool has_contents = false;
  std::vector<observer::CensusGroup> groups;
};

/// \throws UsageError: no such file, or one that --save did not write
EarlierCensus read_heap_document(const std::string& path);

}  // namespace tarn::tool
