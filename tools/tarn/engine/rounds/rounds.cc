// Order of turns, time left.
#include "engine/rounds/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "system/figures/clock.h"

namespace tarn::tool {

std::vector<std::size_t> seats_of_round(const std::vector<Seat>& seats, int round) {
  std::vector<std::size_t> order;
  for (std::size_t first = 0; first < seats.size();) {
    std::size_t end = first;
    while (end < seats.size() && seats[end].group == seats[first].group) ++end;
    const std::size_t count = end - first;
    for (std::size_t i = 0; i < count; ++i)
      order.push_back(first + (i + static_cast<std::size_t>(round)) % count);
    first = end;
  }
  return order;
}

Rounds::Rounds(RoundsPlan plan, Progress& progress)
    : plan_(std::move(plan)), progress_(progress), states_(plan_.seats.size()) {}

bool Rounds::has_turn(std::size_t seat, int round) const {
  return !states_[seat].is_out && round < plan_.warmups + plan_.seats[seat].rounds;
}

double Rounds::expected_seconds(std::size_t seat) const {
  if (states_[seat].seconds > 0) return states_[seat].seconds;
  return measured_seconds_ / usual_seconds_ * plan_.seats[seat].usual_seconds;
}

std::optional<double> Rounds::seconds_left(int round, const std::vector<std::size_t>& order,
                                           std::size_t place) const {
  if (turns_done_ == 0) return std::nullopt;
  double seconds = all_seconds_ / static_cast<double>(turns_done_) * static_cast<double>(plan_.turns_after);
  for (std::size_t i = place; i < order.size(); ++i)
    if (has_turn(order[i], round)) seconds += expected_seconds(order[i]);
  for (std::size_t seat = 0; seat < states_.size(); ++seat)
    if (has_turn(seat, round + 1))
      seconds += expected_seconds(seat) * (plan_.warmups + plan_.seats[seat].rounds - round - 1);
  return seconds;
}

Turn Rounds::turn_of(std::size_t seat, int round) const {
  const bool is_warmup = round < plan_.warmups;
  return {
      plan_.seats[seat].group, plan_.seats[seat].contender, round, is_warmup,
      is_warmup ? fmt::format("warm-up {}", round + 1) : fmt::format("round {}", round - plan_.warmups + 1)};
}

std::string Rounds::label_of(std::size_t seat, const Turn& turn) const {
  const std::string total = turn.is_warmup ? "" : fmt::format(" of {}", plan_.seats[seat].rounds);
  const std::string& group = plan_.groups[turn.group];
  return fmt::format("{}{}{}: {}{}{}", plan_.part, turn.when, total, group, group.empty() ? "" : ", ",
                     plan_.contenders[turn.contender]);
}

void Rounds::take_out(std::size_t seat, TurnEnd end) {
  const bool is_whole = end == TurnEnd::kContenderIsOut;
  for (std::size_t other = 0; other < states_.size(); ++other)
    if (other == seat || (is_whole && plan_.seats[other].contender == plan_.seats[seat].contender))
      states_[other].is_out = true;
}

TurnEnd Rounds::run_seat(std::size_t seat, const Turn& turn, const RunTurn& run_turn) {
  const timespec start = now();
  const TurnEnd end = run_turn(turn);
  const double seconds = seconds_since(start);
  if (states_[seat].seconds == 0) {
    measured_seconds_ += seconds;
    usual_seconds_ += plan_.seats[seat].usual_seconds;
  }
  states_[seat].seconds = seconds;
  all_seconds_ += seconds;
  ++turns_done_;
  if (end == TurnEnd::kSeatIsOut || end == TurnEnd::kContenderIsOut) take_out(seat, end);
  return end;
}

/// \returns whether it went to its end
bool Rounds::run_round(int round, const RunTurn& run_turn) {
  const std::vector<std::size_t> order = seats_of_round(plan_.seats, round);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t seat = order[place];
    if (!has_turn(seat, round)) continue;
    const Turn turn = turn_of(seat, round);
    progress_.begin_run(label_of(seat, turn), seconds_left(round, order, place));
    if (run_seat(seat, turn, run_turn) == TurnEnd::kInterrupted) return false;
  }
  return true;
}

int Rounds::to_end(const RunTurn& run_turn) {
  int most_rounds = 0, completed = 0;
  for (const Seat& seat : plan_.seats) most_rounds = std::max(most_rounds, seat.rounds);
  for (int round = 0; round < plan_.warmups + most_rounds && run_round(round, run_turn); ++round)
    if (round >= plan_.warmups) ++completed;
  progress_.clear();
  return completed;
}

}  // namespace tarn::tool
