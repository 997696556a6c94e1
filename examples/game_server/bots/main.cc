// The bots' command line.
#include "../command_line.h"
#include "crowd.h"
#include "day.h"

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  game_bots --port 7777                      2000 bots until Ctrl-C\n"
    "  game_bots --port 7777 --bots 500 --seconds 10\n"
    "  game_bots --port 7777 --day                4000 come, play, leave and come back within 15 seconds\n"
    "  game_bots --port 7777 --seed 2 --json      other bots; one line of JSON when all play, one at the "
    "end\n"
    "\n"
    "Exit status: 0 all answers came, 1 the server was not there or lost a bot, 2 the command line is "
    "wrong.\n";

struct BotOptions {
  game::CrowdOptions crowd;
  game::DayOptions day;
  bool is_day = false;
};

void add_day_options(CLI::App& app, BotOptions& options) {
  app.add_flag("--day", options.is_day,
               "Play a day, then print one JSON object of figures and lines `metric NAME=VALUE`");
  app.add_option("--day-seconds", options.day.seconds, "How long the day is (15)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1.0, 3600.0));
}

void add_options(CLI::App& app, game::CrowdOptions& options) {
  app.add_option("--port", options.port, "The server's TCP port")
      ->type_name("N")
      ->required()
      ->check(CLI::Range(1, 65535));
  app.add_option("--address", options.address, "The server's address (127.0.0.1)")->type_name("IPv4");
  app.add_option("--bots", options.bots, "How many (2000; for a day 4000)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--connects-at-once", options.connects_at_once, "On their way into the game at a time (128)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", options.seed, "What the bots do follows from it (1)")->type_name("N");
  app.add_option("--seconds", options.seconds, "Play for so long (0: until told to leave)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--pace-ms", options.pace_ms,
                 "Time between two bundles of a bot (0: as fast as answers come; for a day 200)")
      ->type_name("N")
      ->check(CLI::Range(0, 60'000));
  app.add_flag("--any-room", options.habits.joins_any, "Let the server choose rooms (for a day it does)");
  app.add_flag("--commands", options.takes_commands, "Leave at a line or the end of standard input");
  app.add_flag("--json", options.is_json, "Print JSON, an object per line");
}

void run(BotOptions& options, const CLI::App& app) {
  if (!options.is_day) return game::Crowd(options.crowd).run();
  if (app.count("--bots") == 0) options.crowd.bots = 4000;
  if (options.crowd.pace_ms == 0) options.crowd.pace_ms = 200;
  options.crowd.habits = {.joins_any = true, .least_requests = 4, .most_requests = 12};
  game::Day(options.crowd, options.day).run();
}

}  // namespace

int main(int argc, char** argv) {
  BotOptions options;
  CLI::App app("Bots that play on a game_server: they connect, move, shoot, chat, leave and come back.",
               "game_bots");
  add_options(app, options.crowd);
  add_day_options(app, options);
  app.footer(kExamples);
  return game::parse_and_run(app, argc, argv, "game_bots", [&] { run(options, app); });
}
