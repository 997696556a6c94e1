// What can be set on the server's command line, and its front door for each memory policy.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "planted_faults.h"
#include "rules.h"

namespace game {

struct ServerOptions {
  std::string memory = "pools";
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  unsigned io_threads = 2;
  unsigned ticks_per_second = 240;  // four times as fast as the game's clock of 60
  std::uint16_t rooms = 128;
  std::size_t most_sessions = 0;  // 0: as many as there may be open files
  std::size_t outbox_kib = 256;   // at most, per session
  std::size_t mailbox = 16384;    // messages at most, each way of an IO thread
  unsigned stall_ms = 5000;
  Rules rules;
  std::string rules_file;
  PlantedFault planted = PlantedFault::kNone;
  bool takes_commands = false;
  bool is_json = false;
};

/// Each runs the server on one policy until it is told to stop. \throws std::system_error naming what failed
void run_on_new(const ServerOptions& options);
void run_on_pmr(const ServerOptions& options);
void run_on_pools(const ServerOptions& options);

}  // namespace game
