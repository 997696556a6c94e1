// Reads the rules from JSON: an object with members named as those of Rules, each a number within its range.
#include "rules.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace game {
namespace {

struct Range {
  std::uint64_t least;
  std::uint64_t most;
};

std::uint64_t number_of(const std::string& file, const std::string& name, const nlohmann::json& value,
                        Range range) {
  if (value.is_number_unsigned() && value >= range.least && value <= range.most) return value;
  throw std::runtime_error(
      fmt::format("{}: {} is no number from {} to {}", file, name, range.least, range.most));
}

void set(Rules& rules, const std::string& file, const std::string& name, const nlohmann::json& value) {
  if (name == "room_members")
    rules.room_members = number_of(file, name, value, {1, 500});
  else if (name == "creatures")
    rules.creatures = number_of(file, name, value, {0, 10'000});
  else if (name == "room_budget_kib")
    rules.room_budget_kib = number_of(file, name, value, {16, 1 << 20});
  else if (name == "match_ticks")
    rules.match_ticks = static_cast<std::uint32_t>(number_of(file, name, value, {0, 1 << 30}));
  else
    throw std::runtime_error(fmt::format("{}: there is no rule '{}'", file, name));
}

}  // namespace

Rules read_rules(const std::string& file, Rules rules) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(fmt::format("{}: cannot be read", file));
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw std::runtime_error(fmt::format("{}: is no JSON object", file));
  for (const auto& [name, value] : json.items()) set(rules, file, name, value);
  return rules;
}

}  // namespace game
