// Rounds in which contenders take turns, so that whatever disturbs the machine disturbs all of them alike.
// Every command that measures runs its programs through this.
//
// 1. A group is what is compared: a program, a set of benchmark rows, a trace. A seat is a contender in a
//    group; it has one turn in each round.
//
// 2. A round goes through all groups. Within a group the seats follow each other, and each round begins with
//    another one. Whoever interrupts has whole rounds of everything.
//
// 3. A seat that is out, since a run failed, has no more turns; nor has a contender that is out as a whole.
//
// 4. The time left is what each seat's last turn took, times its turns to come; before its first turn, what
//    is usual for it, at the speed of the machine so far.
//
// Threads: one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "system/terminal/progress.h"

namespace tarn::tool {

struct Seat {
  std::size_t group = 0;
  std::size_t contender = 0;
  int rounds = 5;
  double usual_seconds = 1;  // of a turn, beside those of other seats
};

struct RoundsPlan {
  std::vector<std::string> groups = {};      // names, for progress; "" where there is one only
  std::vector<std::string> contenders = {};  // names
  std::vector<Seat> seats = {};              // those of a group beside each other
  int warmups = 0;                           // rounds before the measured ones
  std::string part = {};        // stands before all progress, where these rounds are a part of more
  std::size_t turns_after = 0;  // of the parts that follow
};

/// The order of a round's seats, by their indices. \pre round counts from 0
std::vector<std::size_t> seats_of_round(const std::vector<Seat>& seats, int round);

struct Turn {
  std::size_t group;
  std::size_t contender;
  int round;  // from 0, warm-ups too
  bool is_warmup;
  std::string when;  // "warm-up 1", "round 3"
};

enum class TurnEnd : std::uint8_t { kDone, kSeatIsOut, kContenderIsOut, kInterrupted };

class Rounds {
 public:
  using RunTurn = std::function<TurnEnd(const Turn&)>;

  Rounds(RoundsPlan plan, Progress& progress);

  /// Gives every seat its turns, until all rounds are over or a turn was interrupted.
  /// \returns the measured rounds that are complete
  int to_end(const RunTurn& run_turn);

 private:
  struct SeatState {
    bool is_out = false;
    double seconds = 0;  // of its last turn; 0: it had none
  };

  bool run_round(int round, const RunTurn& run_turn);
  TurnEnd run_seat(std::size_t seat, const Turn& turn, const RunTurn& run_turn);
  Turn turn_of(std::size_t seat, int round) const;
  void take_out(std::size_t seat, TurnEnd end);
  bool has_turn(std::size_t seat, int round) const;
  double expected_seconds(std::size_t seat) const;
  std::optional<double> seconds_left(int round, const std::vector<std::size_t>& order,
                                     std::size_t place) const;
  std::string label_of(std::size_t seat, const Turn& turn) const;

  const RoundsPlan plan_;
  Progress& progress_;
  std::vector<SeatState> states_;
  double measured_seconds_ = 0;  // of first turns, and what is usual of them
  double usual_seconds_ = 0;
  std::size_t turns_done_ = 0;
  double all_seconds_ = 0;
};

}  // namespace tarn::tool
