// What can be changed while the server runs: the rules of rooms, on the command line or in a file of JSON.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace game {

struct Rules {
  std::size_t room_members = 64;       // at most
  std::size_t creatures = 24;          // per room
  std::size_t room_budget_kib = 4096;  // of memory, per room
  std::uint32_t match_ticks = 600;     // after so many a room's players go to other rooms; 0: never

  friend bool operator==(const Rules&, const Rules&) = default;
};

/// \returns `rules` with what the file says instead. \throws std::runtime_error, in one line that names file
/// and fault
Rules read_rules(const std::string& file, Rules rules);

}  // namespace game
