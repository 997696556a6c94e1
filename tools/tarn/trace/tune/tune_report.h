// What a search for settings came to: tables and sentences for a reader, JSON, the file that is proposed.
#pragma once
#include <map>
#include <string>

#include "report/results.h"
#include "report/table.h"
#include "trace/replay/replay_report.h"
#include "trace/tune/contest.h"
#include "tune/search.h"

namespace tarn::tool {

struct TuneResult {
  ReplayedTrace trace;
  tune::Bounds bounds;
  ContestRounds rounds;
  bool is_serial = false;
  tune::Outcome outcome;
  std::map<std::string, std::string> failures;  // by the configuration's text
  bool is_file_asked_for = false;
  std::string conf_file, classes_file;  // that are written; empty: none

  bool proposes() const { return !outcome.chosen.empty(); }
};

std::string tune_report(const TuneResult& result, Colour colour);
Json tune_json(const TuneResult& result);

/// The text of the file that is proposed. \pre something is
std::string proposed_file(const TuneResult& result);

}  // namespace tarn::tool
