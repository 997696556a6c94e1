// A day of a game in some seconds: a storm of connects, players come, play, leave but for an eighth, the
// night passes, and they come again. Meanwhile the server is asked for its figures on a connection of its
// own; at the end all of it is told.
#pragma once
#include <nlohmann/json.hpp>

#include "admin.h"
#include "crowd.h"

namespace game {

struct DayOptions {
  double seconds = 15;  // of the whole day
};

class Day {
 public:
  Day(const CrowdOptions& crowd, const DayOptions& options);

  /// \throws std::runtime_error when the server is not there, or lost a bot
  void run();

 private:
  using Json = nlohmann::ordered_json;

  void storm(double seconds);
  /// The number of players goes evenly to `players`.
  void wave(double seconds, std::size_t players);
  /// Lets the crowd play on until the server has answered. \returns its figures
  nlohmann::json ask(Admin what = Admin::kFigures);
  /// Asks, and adds a line to the time line.
  nlohmann::json sample();
  nlohmann::json sample_with_enough_ticks();
  Json result(const nlohmann::json& begin, const nlohmann::json& end) const;
  void tell(const Json& result) const;
  double seconds_since_begin() const;

  const CrowdOptions options_;
  const double seconds_;
  Crowd crowd_;
  AdminLine admin_;
  std::uint64_t begin_;
  Json storm_;
  Json time_line_ = Json::array();
  std::uint64_t peak_rss_ = 0;  // of the first day's players
  std::uint64_t valley_rss_ = 0;
  std::uint64_t end_rss_ = 0;
  std::uint64_t last_packets_ = 0;
  double last_sample_ = 0;
};

}  // namespace game
