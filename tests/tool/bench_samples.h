// Documents of `tarn bench` made by hand, with figures that can be checked in the head.
#pragma once
#include "bench/figures/bench_document.h"

namespace tarn::tool {

inline Json sample_header() {
  return {{"schema", "tarn bench"},
          {"version", 1},
          {"library", "0.1.0"},
          {"date", "2026-01-02T03:04:05Z"},
          {"machine",
           {{"cpu", "a processor"},
            {"cores", 2},
            {"memory_bytes", 1 << 30},
            {"kernel", "Linux 6"},
            {"transparent_huge_pages", "madvise"},
            {"glibc", "2.36"},
            {"governor", "unknown"},
            {"load_at_start", 0.5}}},
          {"command", {"tarn", "bench"}},
          {"rounds", 3},
          {"scale", 1.0},
          {"quick", false},
          {"pinned", false}};
}

inline std::vector<Json> runs_of(const std::vector<double>& ns, double peak_bytes = 1000) {
  std::vector<Json> runs;
  for (const double value : ns)
    runs.push_back(
        {{"ns", value}, {"operations", 7}, {"peak_rss_bytes", peak_bytes}, {"rss_after_bytes", 500}});
  return runs;
}

inline RowSamples row_with(const std::string& group, const std::string& name, std::size_t bytes,
                           std::map<std::size_t, std::vector<Json>> runs) {
  return {{.group = group, .name = name, .series = "", .bytes = bytes, .metric = "ns"}, std::move(runs)};
}

/// tarn (0), glibc (1), boost-pool (2). In 002_fixed tarn takes half and twice the time of glibc, in
/// 003_fixed Boost takes a quarter of glibc's; tarn has not run there.
inline BenchDocument sample_document() {
  BenchDocument document = {.header = sample_header(), .contenders = {}, .results = {}};
  document.contenders = {{"tarn", ContenderKind::kTarn, "tarn 0.1.0", "/lib/libtarn.so"},
                         {"glibc", ContenderKind::kSystem, "glibc 2.36", ""},
                         {"boost-pool", ContenderKind::kPool, "Boost.Pool 1_74", ""}};
  document.results.groups = {
      {"002_fixed",
       {row_with("002_fixed", "4", 4, {{0, runs_of({10, 11, 9})}, {1, runs_of({20, 21, 19}, 2000)}}),
        row_with("002_fixed", "64", 64, {{0, runs_of({40, 41, 39})}, {1, runs_of({20, 22, 18}, 2000)}})}},
      {"003_fixed",
       {row_with("003_fixed", "fifo/64", 64, {{1, runs_of({40, 40, 40})}, {2, runs_of({10, 10, 10})}})}}};
  document.results.rounds_done = 3;
  return document;
}

}  // namespace tarn::tool
