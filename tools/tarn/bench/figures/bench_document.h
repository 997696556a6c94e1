// A run of `tarn bench` as it is told: who took part, every sample, and what follows from them. Written as
// JSON and read back, so that tables and pages can be made again without measuring. docs/command.md says
// what the names of fields do not.
#pragma once
#include <string>
#include <vector>

#include "bench/rows/bench_run.h"

namespace tarn::tool {

struct DocumentContender {
  std::string name;
  ContenderKind kind;
  std::string version;
  std::string library;
  bool is_synchronised = true;
};

struct BenchDocument {
  Json header;  // what result_header() gives, and how it was measured
  std::vector<DocumentContender> contenders = {};
  BenchResults results;
};

BenchDocument document_of(const BenchPlan& plan, BenchResults results, Json header);
Json to_json(const BenchDocument& document);
/// The JSON as text: a line per contender and row, so that two runs can be compared line by line.
std::string text_of(const BenchDocument& document);
/// \throws UsageError for what is no result of `tarn bench`
BenchDocument document_from(const Json& written, const std::string& file);

}  // namespace tarn::tool
