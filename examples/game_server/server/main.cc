// The game server's command line.
#include <map>

#include "../command_line.h"
#include "options.h"

namespace {

using game::ServerOptions;

constexpr const char* kExamples =
    "Examples:\n"
    "  game_server --port 7777                    serve until Ctrl-C, memory from tarn's pools\n"
    "  game_server --memory new --port 7777       the same on new and delete\n"
    "  LD_PRELOAD=libjemalloc.so.2 game_server --memory new\n"
    "                                             the same on another malloc\n"
    "  echo stats | game_server --json --commands one line of JSON, then it stops\n"
    "\n"
    "Without --port the system chooses one; the first line of output says which.\n"
    "Exit status: 0 stopped as asked, 1 it could not run, 2 the command line is wrong.\n";

const std::map<std::string, void (*)(const ServerOptions&)> kPolicies = {
    {"new", game::run_on_new}, {"pmr", game::run_on_pmr}, {"pools", game::run_on_pools}};

const std::map<std::string, game::PlantedFault> kFaults = {
    {"none", game::PlantedFault::kNone},
    {"leak", game::PlantedFault::kLeak},
    {"fragmentation", game::PlantedFault::kFragmentation},
    {"slow_io", game::PlantedFault::kSlowIo}};

void add_options(CLI::App& app, ServerOptions& options) {
  app.add_option("--memory", options.memory,
                 "Where memory comes from: new, pmr or pools (pools); the last counts")
      ->type_name("POLICY")
      ->take_last()
      ->check(CLI::IsMember({"new", "pmr", "pools"}));
  app.add_option("--address", options.address, "Address to listen on (127.0.0.1)")->type_name("IP");
  app.add_option("--port", options.port, "TCP port (0: the system chooses)")->type_name("N");
  app.add_option("--io-threads", options.io_threads, "Threads that serve sockets, beside the game's (2)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  app.add_option("--ticks", options.ticks_per_second, "Ticks per second (240)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app.add_option("--rooms", options.rooms, "Rooms at most (128)")->type_name("N")->check(CLI::Range(1, 4096));
  app.add_option("--room-members", options.rules.room_members, "Players per room at most (64)")
      ->type_name("N")
      ->check(CLI::Range(1, 500));
  app.add_option("--creatures", options.rules.creatures, "Creatures per room (24)")
      ->type_name("N")
      ->check(CLI::Range(0, 10000));
  app.add_option("--room-budget-kib", options.rules.room_budget_kib, "Memory per room, KiB (4096)")
      ->type_name("N")
      ->check(CLI::Range(16, 1 << 20));
  app.add_option("--match-ticks", options.rules.match_ticks,
                 "Ticks after which a room's players go to other rooms (600; 0: never)")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--rules", options.rules_file,
                 "JSON with room_members, creatures, room_budget_kib, match_ticks; read again on SIGHUP")
      ->type_name("FILE");
  app.add_option("--mailbox", options.mailbox, "Messages that may wait between two threads (16384)")
      ->type_name("N")
      ->check(CLI::Range(64, 1 << 20));
  app.add_option("--sessions", options.most_sessions, "Sessions at most (as many as there may be open files)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--outbox-kib", options.outbox_kib, "What may wait to be sent to one session, KiB (256)")
      ->type_name("N")
      ->check(CLI::Range(8, 1 << 16));
  app.add_option("--stall-ms", options.stall_ms,
                 "Close a session that owes and does not move for so long (5000)")
      ->type_name("N")
      ->check(CLI::Range(10, 600'000));
  app.add_option("--plant", options.planted,
                 "A fault to practise on: none, leak, fragmentation or slow_io (docs/look/walk_through.md)")
      ->type_name("FAULT")
      ->transform(CLI::CheckedTransformer(kFaults, CLI::ignore_case).description(""));
  app.add_flag("--commands", options.takes_commands,
               "Read commands from standard input: stats, reload, stop; its end stops the server too");
  app.add_flag("--json", options.is_json, "Print JSON, an object per line");
}

}  // namespace

int main(int argc, char** argv) {
  ServerOptions options;
  CLI::App app("A game server over TCP: rooms, ticks, chat; all its memory from where --memory says.",
               "game_server");
  add_options(app, options);
  app.footer(kExamples);
  return game::parse_and_run(app, argc, argv, "game_server", [&] { kPolicies.at(options.memory)(options); });
}
