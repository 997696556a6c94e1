// The table, the sentences, the JSON, the file.
#include "trace/tune/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "system/figures/format.h"

namespace tarn::tool {
namespace {

using tune::Aim;
using tune::Choice;
using tune::Share;
using tune::Verdict;

struct VerdictText {
  const char* key;  // in JSON
  const char* words;
};

VerdictText verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGains:
      return {"gains", "chosen"};
    case Verdict::kNoise:
      return {"noise", ""};
    case Verdict::kMoves:
      return {"moves", "the other figure pays for it"};
    case Verdict::kTooSlow:
      return {"too_slow", "too slow"};
    case Verdict::kFailed:
      return {"failed", "failed"};
    case Verdict::kOutdone:
      return {"outdone", "another value is better"};
    case Verdict::kAddsNothing:
      return {"adds_nothing", "adds nothing to the others"};
    case Verdict::kNotConfirmed:
      break;
  }
  return {"not_confirmed", "not confirmed"};
}

const char* name_of(Aim aim) { return aim == Aim::kPeak ? "peak RSS" : "mean RSS"; }

/// A change, not a gain: less memory has a minus. What rounds to nothing has no sign.
std::string change(double percent) {
  return std::abs(percent) < 0.05 ? "0.0 %" : fmt::format("{:+.1f} %", percent);
}

std::string with_spread(double percent, double spread) {
  return fmt::format("{} ± {:.1f}", change(percent), spread);
}

std::string change_of_memory(const Share& gain) { return with_spread(-gain.percent, gain.spread); }
std::string change_of_time(const Share& price) { return with_spread(price.percent, price.spread); }

/// The verdict, with the figure it rests on where that is not one of the row: those are of other rounds.
std::string verdict_words(const Choice& choice) {
  const char* const words = verdict_text(choice.verdict).words;
  if (!choice.later || choice.verdict == Verdict::kFailed) return words;
  const auto& [step, share] = *choice.later;
  const char* const rounds = step == tune::Step::kVerified ? "in fresh rounds" : "in rounds with the others";
  if (choice.verdict == Verdict::kTooSlow)
    return fmt::format("{}: all chosen {} time {}", words, change_of_time(share), rounds);
  const char* const whole = choice.verdict == Verdict::kNotConfirmed ? "all chosen " : "";
  return fmt::format("{}: {}{} {}", words, whole, change_of_memory(share), rounds);
}

std::vector<Cell> row_of(const Choice& choice, const TuneResult& result) {
  const std::string name = text_of(choice.configuration);
  const auto failure = result.failures.find(name);
  if (choice.verdict == Verdict::kFailed)
    return {
        name, "-", "-", "-", {failure == result.failures.end() ? "failed" : failure->second, Style::kBad}};
  const Style style = choice.verdict == Verdict::kGains   ? Style::kGood
                      : choice.verdict == Verdict::kNoise ? Style::kFaint
                                                          : Style::kPlain;
  return {name,
          change_of_memory(choice.peak_gain),
          change_of_memory(choice.mean_gain),
          change_of_time(choice.price),
          {verdict_words(choice), style}};
}

/// The largest gain first, what failed last.
std::vector<Choice> sorted(std::vector<Choice> choices, Aim aim) {
  std::stable_sort(choices.begin(), choices.end(), [aim](const Choice& a, const Choice& b) {
    const bool is_failed = a.verdict == Verdict::kFailed;
    if (is_failed != (b.verdict == Verdict::kFailed)) return !is_failed;
    return a.gain(aim).percent > b.gain(aim).percent;
  });
  return choices;
}

std::string table_of(const std::string& title, const std::vector<Choice>& choices, const TuneResult& result,
                     Colour colour) {
  Table table({{title, Alignment::kLeft}, "peak RSS", "mean RSS", "time", {"", Alignment::kLeft}});
  for (const Choice& choice : sorted(choices, result.bounds.aim)) table.add_row(row_of(choice, result));
  return table.render(colour) + "\n";
}

/// Only what changed something: the rest is in the JSON.
std::string added_table(const TuneResult& result, Colour colour) {
  std::vector<Choice> told = result.outcome.added;
  if (told.empty()) return "";
  std::erase_if(told, [](const Choice& choice) { return choice.verdict == Verdict::kNoise; });
  const std::string chosen = text_of(result.outcome.added_to);
  if (told.empty())
    return fmt::format("Beside {} nothing else gains more than noise ({} tried).\n\n", chosen,
                       result.outcome.added.size());
  return fmt::format("Beside {}, of the other {}:\n\n{}", chosen, result.outcome.added.size(),
                     table_of("added", told, result, colour));
}

std::string tables(const TuneResult& result, Colour colour) {
  return table_of(fmt::format("each alone, {} rounds", result.rounds.searched), result.outcome.alone, result,
                  colour) +
         added_table(result, colour);
}

std::string figures_line(const tune::Figures& figures) {
  return fmt::format("peak RSS {}, mean RSS {}, time {}", format_bytes(figures.peak_bytes),
                     format_bytes(figures.mean_bytes), format_seconds(figures.seconds));
}

std::string comparison_line(const TuneResult& result) {
  const tune::Outcome& outcome = result.outcome;
  const tune::Figures &before = outcome.default_figures, &after = outcome.chosen_figures;
  return fmt::format("peak RSS {} → {} ({}), mean RSS {} → {} ({}), time {} → {} ({})",
                     format_bytes(before.peak_bytes), format_bytes(after.peak_bytes),
                     change_of_memory(outcome.verified.peak_gain), format_bytes(before.mean_bytes),
                     format_bytes(after.mean_bytes), change_of_memory(outcome.verified.mean_gain),
                     format_seconds(before.seconds), format_seconds(after.seconds),
                     change_of_time(outcome.verified.price));
}

bool has_key(const tune::Configuration& configuration, const std::string& key) {
  return std::any_of(configuration.begin(), configuration.end(),
                     [&](const tune::Setting& setting) { return setting.key == key; });
}

/// One digit behind the point is enough of what a replay's time made.
double told_time_bound(const TuneResult& result) {
  return std::round(10 * result.bounds.most_time_percent) / 10;
}

std::string bound_line(const TuneResult& result) {
  if (result.bounds.program_seconds == 0) return "";
  return fmt::format("In a program that takes {}, its calls may take {:g} % more time.\n",
                     format_seconds(result.bounds.program_seconds), told_time_bound(result));
}

/// What a reader must know before the figures are believed.
std::string cautions_of(const TuneResult& result) {
  std::string text;
  const Share& price = result.outcome.verified.price;
  if (price.percent + price.error > result.bounds.most_time_percent)
    text += fmt::format(
        "That it keeps within {:g} % more time is not certain: more rounds or a quieter machine would "
        "tell.\n",
        told_time_bound(result));
  if (has_key(result.outcome.chosen, "decay"))
    text +=
        "A replay is shorter than the program's run: what decay gains here, time may gain there anyway.\n";
  return text;
}

std::string proposal(const TuneResult& result) {
  std::string text =
      fmt::format("Joined, in {} fresh rounds beside the defaults:\n  {}\n  {}\n{}", result.rounds.verified,
                  text_of(result.outcome.chosen), comparison_line(result), cautions_of(result));
  if (result.conf_file.empty()) return text + "--out FILE writes these settings.\n";
  const std::string file = format_command({result.conf_file});
  text += fmt::format("Written to {}", file);
  if (!result.classes_file.empty()) text += fmt::format(" and {}", format_command({result.classes_file}));
  return text + fmt::format(": tarn run --conf {0} -- PROGRAM, or TARN_CONF_FILE={0}\n", file);
}

/// What came nearest, and why it fell through.
std::string last_tried(const TuneResult& result) {
  const Choice& last = result.outcome.verified;
  if (result.outcome.verifications == 0) return "";
  return fmt::format("The last tried in fresh rounds, {}: peak RSS {}, mean RSS {}, time {}.\n",
                     text_of(last.configuration), change_of_memory(last.peak_gain),
                     change_of_memory(last.mean_gain), change_of_time(last.price));
}

std::string no_proposal(const TuneResult& result) {
  return fmt::format(
      "{}Nothing makes {} less by more than its noise and {:g} %, in at most {:g} % more time: the defaults "
      "stay{}.\n",
      last_tried(result), name_of(result.bounds.aim), result.bounds.least_gain_percent,
      told_time_bound(result), result.is_file_asked_for ? ", no file is written" : "");
}

Json json_of(const Share& share) { return {{"percent", share.percent}, {"spread", share.spread}}; }

Json json_of(const tune::Figures& figures) {
  return {
      {"peak_bytes", figures.peak_bytes}, {"mean_bytes", figures.mean_bytes}, {"seconds", figures.seconds}};
}

Json json_of(const tune::Configuration& configuration) {
  Json json = Json::object();
  for (const tune::Setting& setting : configuration) json[setting.key] = setting.value;
  return json;
}

Json json_of(const Choice& choice, const TuneResult& result) {
  Json json = {{"settings", json_of(choice.configuration)},   {"peak_gain", json_of(choice.peak_gain)},
               {"mean_gain", json_of(choice.mean_gain)},      {"price", json_of(choice.price)},
               {"verdict", verdict_text(choice.verdict).key}, {"failure", nullptr}};
  if (choice.later)
    json["later"] = {{"step", choice.later->step == tune::Step::kVerified ? "fresh" : "joined"},
                     {"share", json_of(choice.later->share)}};
  if (const auto why = result.failures.find(text_of(choice.configuration));
      choice.verdict == Verdict::kFailed && why != result.failures.end())
    json["failure"] = why->second;
  return json;
}

Json name_or_null(const std::string& file) { return file.empty() ? Json(nullptr) : Json(file); }

}  // namespace

std::string tune_report(const TuneResult& result, Colour colour) {
  return fmt::format("{}\nBy default: {}.\n{}\n{}{}", about_trace(result.trace),
                     figures_line(result.outcome.default_figures), bound_line(result), tables(result, colour),
                     result.proposes() ? proposal(result) : no_proposal(result));
}

Json tune_json(const TuneResult& result) {
  const tune::Outcome& outcome = result.outcome;
  Json json = result_header("tarn tune");
  json["trace"] = to_json(result.trace);
  json["rounds"] = result.rounds.searched;
  json["fresh_rounds"] = outcome.fresh_rounds;
  json["serial"] = result.is_serial;
  json["least"] = result.bounds.aim == Aim::kPeak ? "peak" : "mean";
  json["most_time_percent"] = result.bounds.most_time_percent;
  json["program_seconds"] = result.bounds.program_seconds;
  json["least_gain_percent"] = result.bounds.least_gain_percent;
  json["defaults"] = json_of(outcome.default_figures);
  json["alone"] = Json::array();
  for (const Choice& choice : outcome.alone) json["alone"].push_back(json_of(choice, result));
  json["added"] = Json::array();
  for (const Choice& choice : outcome.added) json["added"].push_back(json_of(choice, result));
  json["added_to"] = json_of(outcome.added_to);
  json["proposed"] = result.proposes() ? json_of(outcome.chosen) : Json(nullptr);
  json["proposed_figures"] = result.proposes() ? json_of(outcome.chosen_figures) : Json(nullptr);
  json["verified"] = outcome.verifications == 0 ? Json(nullptr) : json_of(outcome.verified, result);
  json["verifications"] = outcome.verifications;
  json["conf_file"] = name_or_null(result.conf_file);
  json["classes_file"] = name_or_null(result.classes_file);
  return json;
}

std::string proposed_file(const TuneResult& result) {
  tune::Configuration settings = result.outcome.chosen;
  for (tune::Setting& setting : settings)
    if (setting.value == kFittedClasses) setting.value = result.classes_file;
  const std::string comment = fmt::format(
      "Made by tarn tune from {}, in {} rounds beside the defaults:\n{}.\n"
      "Use it: tarn run --conf {} -- PROGRAM, or TARN_CONF_FILE",
      format_command({result.trace.file}), result.outcome.fresh_rounds, comparison_line(result),
      format_command({result.conf_file}));
  return tune::configuration_file(settings, comment);
}

}  // namespace tarn::tool
