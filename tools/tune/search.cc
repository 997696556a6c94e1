// The steps.
#include "tune/search.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tarn::tune {
namespace {

constexpr unsigned kMostFreshSets = 5;

Figures figures_of(const Measurements& measured) {
  return {median(measured.peak_bytes), median(measured.mean_bytes), median(measured.seconds)};
}

/// Options that do one thing in two ways, of which one value is enough.
std::string topic_of(const Setting& setting) {
  if (setting.key == "huge_page_threshold") return "huge_pages";
  return setting.key == "classes_file" ? "classes" : setting.key;
}

Configuration without(Configuration configuration, std::size_t place) {
  configuration.erase(configuration.begin() + static_cast<std::ptrdiff_t>(place));
  return configuration;
}

class Search {
 public:
  Search(const Measure& measure, const Bounds& bounds) : measure_(measure), bounds_(bounds) {}

  void measure_alone(const std::vector<Setting>& candidates);
  void measure_added();
  void choose_best_of_topics(std::vector<Choice>& choices);
  void drop_what_does_not_help();
  void verify();
  Outcome& outcome() { return outcome_; }

 private:
  struct Drop {
    std::size_t place;  // in what is chosen
    Verdict why;
    LaterJudgement judged;
  };

  Choice& choice_of(const Setting& setting);
  bool is_topic_chosen(const Setting& setting) const;
  void choose_best_of(const std::vector<Choice*>& of_topic);
  std::optional<Drop> least_helpful(const std::vector<Measurements>& measured) const;
  std::size_t costliest(const std::vector<Measurements>& measured) const;
  std::vector<Measurements> measure_fresh() const;
  Verdict confirmed(const std::vector<Measurements>& measured) const;
  Drop weakest();
  void drop(const Drop& dropped);
  bool replace_by_cheaper(const Choice& dropped);
  const std::vector<double>& aimed_at(const Measurements& measured) const {
    return bounds_.aim == Aim::kPeak ? measured.peak_bytes : measured.mean_bytes;
  }

  const Measure& measure_;
  Bounds bounds_;
  Outcome outcome_;
  bool needs_joining_ = false;  // something was chosen since all was measured together
};

/// Where the setting was chosen: beside others if it was, else alone.
Choice& Search::choice_of(const Setting& setting) {
  const auto is_it = [&](const Choice& choice) {
    return choice.verdict == Verdict::kGains && choice.configuration.front() == setting;
  };
  const auto added = std::find_if(outcome_.added.begin(), outcome_.added.end(), is_it);
  return added != outcome_.added.end() ? *added
                                       : *std::find_if(outcome_.alone.begin(), outcome_.alone.end(), is_it);
}

bool Search::is_topic_chosen(const Setting& setting) const {
  return std::any_of(outcome_.chosen.begin(), outcome_.chosen.end(),
                     [&](const Setting& chosen) { return topic_of(chosen) == topic_of(setting); });
}

void Search::measure_alone(const std::vector<Setting>& candidates) {
  std::vector<Configuration> asked = {{}};
  for (const Setting& candidate : candidates) asked.push_back({candidate});
  const std::vector<Measurements> measured = measure_(Step::kAlone, asked);
  outcome_.default_figures = figures_of(measured[0]);
  outcome_.bounds = bounds_ = for_calls(bounds_, outcome_.default_figures.seconds);
  for (std::size_t i = 1; i < asked.size(); ++i)
    outcome_.alone.push_back(compare(asked[i], measured[i], measured[0], bounds_));
}

/// What gained nothing alone, each beside what is chosen.
void Search::measure_added() {
  if (outcome_.chosen.empty()) return;
  outcome_.added_to = outcome_.chosen;
  std::vector<Configuration> asked = {{}, outcome_.chosen};
  for (const Choice& choice : outcome_.alone) {
    const Setting& setting = choice.configuration.front();
    if (choice.verdict != Verdict::kNoise || is_topic_chosen(setting)) continue;
    asked.push_back(outcome_.chosen);
    asked.back().push_back(setting);
  }
  if (asked.size() == 2) return;
  const std::vector<Measurements> measured = measure_(Step::kAdded, asked);
  for (std::size_t i = 2; i < asked.size(); ++i) {
    outcome_.added.push_back(compare({asked[i].back()}, measured[i], measured[1], bounds_));
    Verdict& verdict = outcome_.added.back().verdict;
    // The bound is for the whole, beside the defaults.
    if (verdict == Verdict::kGains) verdict = compare(asked[i], measured[i], measured[0], bounds_).verdict;
  }
}

/// The cheapest of those that gain as much as the best one but for noise.
void Search::choose_best_of(const std::vector<Choice*>& of_topic) {
  const auto gain = [this](const Choice* choice) { return choice->gain(bounds_.aim); };
  const Choice* const most =
      *std::max_element(of_topic.begin(), of_topic.end(),
                        [&](const Choice* a, const Choice* b) { return gain(a).percent < gain(b).percent; });
  const Choice* best = most;
  for (const Choice* choice : of_topic)
    if (gain(choice).percent >= gain(most).percent - gain(most).spread &&
        choice->price.percent < best->price.percent)
      best = choice;
  for (Choice* choice : of_topic)
    if (choice != best) choice->verdict = Verdict::kOutdone;
  outcome_.chosen.push_back(best->configuration.front());
}

void Search::choose_best_of_topics(std::vector<Choice>& choices) {
  std::vector<std::string> topics;
  for (const Choice& choice : choices) {
    const std::string topic = topic_of(choice.configuration.front());
    if (std::find(topics.begin(), topics.end(), topic) == topics.end()) topics.push_back(topic);
  }
  for (const std::string& topic : topics) {
    std::vector<Choice*> of_topic;
    for (Choice& choice : choices)
      if (choice.verdict == Verdict::kGains && topic_of(choice.configuration.front()) == topic)
        of_topic.push_back(&choice);
    if (!of_topic.empty()) choose_best_of(of_topic);
  }
}

/// The one without which the whole is fastest.
std::size_t Search::costliest(const std::vector<Measurements>& measured) const {
  std::size_t place = 0;
  for (std::size_t i = 1; i < outcome_.chosen.size(); ++i)
    if (price(measured[2 + i].seconds, measured[0].seconds).percent <
        price(measured[2 + place].seconds, measured[0].seconds).percent)
      place = i;
  return place;
}

/// \param measured the defaults, the whole, and the whole without each one
std::optional<Search::Drop> Search::least_helpful(const std::vector<Measurements>& measured) const {
  const Measurements& whole = measured[1];
  std::optional<Drop> least;
  double least_percent = 0;
  for (std::size_t i = 0; i < outcome_.chosen.size(); ++i) {
    const Measurements& rest = measured[2 + i];
    if (rest.is_empty()) continue;  // it would fail without this one
    if (whole.is_empty()) return Drop{i, Verdict::kFailed, {Step::kJoined, {}}};
    const Share gain = saving(aimed_at(whole), aimed_at(rest));
    if (is_gain(gain, bounds_) || (least && gain.percent >= least_percent)) continue;
    least = Drop{i, Verdict::kAddsNothing, {Step::kJoined, gain}};
    least_percent = gain.percent;
  }
  if (least) return least;
  const Choice joined = compare(outcome_.chosen, whole, measured[0], bounds_);
  switch (joined.verdict) {
    case Verdict::kTooSlow:
      return Drop{costliest(measured), Verdict::kTooSlow, {Step::kJoined, joined.price}};
    case Verdict::kFailed:
      return Drop{outcome_.chosen.size() - 1, Verdict::kFailed, {Step::kJoined, {}}};
    default:
      return std::nullopt;
  }
}

/// \returns whether another value of the topic that gained alone, and in less time, has its place now
bool Search::replace_by_cheaper(const Choice& dropped) {
  Choice* best = nullptr;
  for (Choice& choice : outcome_.alone) {
    if (choice.verdict != Verdict::kOutdone || choice.price.percent >= dropped.price.percent ||
        topic_of(choice.configuration.front()) != topic_of(dropped.configuration.front()))
      continue;
    if (best == nullptr || choice.gain(bounds_.aim).percent > best->gain(bounds_.aim).percent) best = &choice;
  }
  if (best == nullptr) return false;
  best->verdict = Verdict::kGains;
  best->later.reset();
  outcome_.chosen.push_back(best->configuration.front());
  return true;
}

void Search::drop(const Drop& dropped) {
  Choice& choice = choice_of(outcome_.chosen[dropped.place]);
  choice.verdict = dropped.why;
  choice.later = dropped.judged;
  outcome_.chosen = without(outcome_.chosen, dropped.place);
  if (dropped.why == Verdict::kTooSlow && replace_by_cheaper(choice)) needs_joining_ = true;
}

void Search::drop_what_does_not_help() {
  needs_joining_ = false;
  while (outcome_.chosen.size() > 1) {
    std::vector<Configuration> asked = {{}, outcome_.chosen};
    for (std::size_t i = 0; i < outcome_.chosen.size(); ++i) asked.push_back(without(outcome_.chosen, i));
    const std::optional<Drop> least = least_helpful(measure_(Step::kJoined, asked));
    if (!least) return;
    drop(*least);
  }
}

/// The defaults and the whole. Where the price is nearer to its bound than its error, more rounds are added.
std::vector<Measurements> Search::measure_fresh() const {
  std::vector<Measurements> measured = measure_(Step::kVerified, {{}, outcome_.chosen});
  for (unsigned sets = 1; sets < kMostFreshSets; ++sets) {
    const Choice whole = compare(outcome_.chosen, measured[1], measured[0], bounds_);
    if (!is_gain(whole.gain(bounds_.aim), bounds_) ||
        std::abs(whole.price.percent - bounds_.most_time_percent) > whole.price.error)
      break;
    const std::vector<Measurements> more = measure_(Step::kVerified, {{}, outcome_.chosen});
    if (more[1].is_empty()) return more;
    for (std::size_t i = 0; i < measured.size(); ++i) measured[i].append(more[i]);
  }
  return measured;
}

/// \why the bound holds for the median here: what is proposed must keep what it says
Verdict Search::confirmed(const std::vector<Measurements>& measured) const {
  const Choice& choice = outcome_.verified;
  if (choice.verdict != Verdict::kGains) return choice.verdict;
  if (choice.price.percent > bounds_.most_time_percent) return Verdict::kTooSlow;
  return is_less(aimed_at(measured[1]), aimed_at(measured[0])) ? Verdict::kGains : Verdict::kNoise;
}

/// What goes when the whole is not confirmed: where it was too slow, the setting that cost most, else the one
/// that gained least.
Search::Drop Search::weakest() {
  const bool is_slow = outcome_.verified.verdict == Verdict::kTooSlow;
  const auto worth = [&](const Setting& setting) {
    const Choice& choice = choice_of(setting);
    return is_slow ? -choice.price.percent : choice.gain(bounds_.aim).percent;
  };
  const auto least =
      std::min_element(outcome_.chosen.begin(), outcome_.chosen.end(),
                       [&](const Setting& a, const Setting& b) { return worth(a) < worth(b); });
  return {static_cast<std::size_t>(least - outcome_.chosen.begin()),
          is_slow ? Verdict::kTooSlow : Verdict::kNotConfirmed,
          {Step::kVerified, is_slow ? outcome_.verified.price : outcome_.verified.gain(bounds_.aim)}};
}

void Search::verify() {
  while (!outcome_.chosen.empty()) {
    const std::vector<Measurements> measured = measure_fresh();
    ++outcome_.verifications;
    outcome_.fresh_rounds = measured[0].seconds.size();
    outcome_.default_figures = figures_of(measured[0]);
    outcome_.verified = compare(outcome_.chosen, measured[1], measured[0], bounds_);
    outcome_.verified.verdict = confirmed(measured);
    if (outcome_.verified.verdict == Verdict::kGains) {
      outcome_.chosen_figures = figures_of(measured[1]);
      return;
    }
    drop(weakest());
    if (needs_joining_) drop_what_does_not_help();
  }
}

}  // namespace

Outcome search(const std::vector<Setting>& candidates, const Measure& measure, const Bounds& bounds) {
  Search search(measure, bounds);
  search.measure_alone(candidates);
  search.choose_best_of_topics(search.outcome().alone);
  search.drop_what_does_not_help();
  search.measure_added();
  search.choose_best_of_topics(search.outcome().added);
  if (search.outcome().chosen != search.outcome().added_to) search.drop_what_does_not_help();
  search.verify();
  return std::move(search.outcome());
}

}  // namespace tarn::tune
