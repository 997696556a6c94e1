#include "profile/documents/speedscope.h"

#include <map>
#include <tuple>

#include "profile/stacks/flat_stack.h"

namespace tarn::profile {
namespace {

/// The frames of all profiles, each once.
class FrameTable {
 public:
  std::size_t number_of(const Frame& frame) {
    const auto [entry, is_new] =
        numbers_.try_emplace({frame.function, frame.file, frame.line}, numbers_.size());
    if (is_new) {
      Json json = {{"name", frame.function}};
      if (!frame.file.empty()) json["file"] = frame.file;
      if (frame.line != 0) json["line"] = frame.line;
      frames_.push_back(std::move(json));
    }
    return entry->second;
  }
  const Json& frames() const { return frames_; }

 private:
  std::map<std::tuple<std::string, std::string, unsigned>, std::size_t> numbers_;
  Json frames_ = Json::array();
};

Json sampled(const NamedProfile& profile, Measure measure, FrameTable& table) {
  Json samples = Json::array(), weights = Json::array();
  std::int64_t sum = 0;
  Rounding rounded;
  for (const NamedStack& stack : profile.stacks()) {
    const std::int64_t bytes = rounded(stack.amount(measure).bytes);
    if (bytes == 0) continue;
    Json sample = Json::array();
    for (const Frame& frame : outermost_first(stack)) sample.push_back(table.number_of(frame));
    samples.push_back(std::move(sample));
    weights.push_back(bytes);
    sum += bytes;
  }
  return {{"type", "sampled"},
          {"name", measure == Measure::kLive ? "live bytes" : "allocated bytes"},
          {"unit", "bytes"},
          {"startValue", 0},
          {"endValue", sum},
          {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

}  // namespace

Json speedscope_json(const NamedProfile& profile) {
  FrameTable table;
  Json profiles = Json::array();
  for (const Measure measure : {Measure::kLive, Measure::kAllocated})
    profiles.push_back(sampled(profile, measure, table));
  return {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
          {"exporter", "tarn"},
          {"name", profile.program()},
          {"activeProfileIndex", 0},
          {"shared", {{"frames", table.frames()}}},
          {"profiles", std::move(profiles)}};
}

}  // namespace tarn::profile
