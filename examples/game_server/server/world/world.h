// The game: players, rooms, and the tick. What the logic thread runs, without any thread or socket of its
// own, so that tests can tick it by hand.
//
// A tick: takes what clients have asked for, in the order in which it came, and answers; ends matches that
// are over and finds other rooms for their players; lets every room play; now and then takes a snapshot of
// all entities. The answers are in post() then.
//
// Rooms are filled one after the other, lowest number first: when players leave, matches end, and those who
// are left meet in fewer rooms. A room without members does not exist.
//
// Invariant: a player of a session exists from its greeting until the session has gone or was refused.
// Threads: one.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "../messages.h"
#include "../options.h"
#include "../planted_faults.h"
#include "../statistics.h"
#include "player.h"
#include "post.h"
#include "room.h"
#include "snapshot.h"

namespace game {

template <typename Memory>
class World {
 public:
  using Batch = typename Memory::template Vector<Inbound<Memory>>;

  World(Memory& memory, const ServerOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Handles what came from one IO thread. \post the batch is empty
  void handle(std::size_t io_thread, Batch& batch);
  void play();
  Post<Memory>& post() { return post_; }
  typename Memory::Thread& thread() { return thread_; }

  /// Rooms that open from now on follow them.
  void set_rules(const Rules& rules) { rules_ = rules; }
  const Rules& rules() const { return rules_; }

  /// An administrator's request that came in the last batch; the caller answers it.
  struct AdminRequest {
    std::uint8_t io_thread;
    SessionKey from;
    Admin what;
  };
  std::vector<AdminRequest>& admin_requests() { return admin_requests_; }

  std::uint32_t tick_number() const { return tick_; }
  const Counters& counters() const { return counters_; }
  void add_to(Figures& figures) const;

 private:
  using Buffer = typename Memory::Buffer;
  using Member = Player<Memory>;

  static constexpr std::uint32_t kTicksPerSnapshot = 60;

  /// What is known of a session's slot; `player` is nullptr before the greeting and after a refusal.
  struct Seat {
    std::uint32_t generation = 0;
    bool is_refused = false;
    Member* player = nullptr;
  };

  Seat& seat_of(std::size_t io_thread, SessionKey from);
  void handle(std::size_t io_thread, const Inbound<Memory>& message);
  void handle_request(std::size_t io_thread, SessionKey from, Seat& seat, const Buffer& packet);
  bool handle_anywhere(std::size_t io_thread, SessionKey from, Seat& seat, Request type, PacketReader payload,
                       const Buffer& packet);
  void handle_in_room(Member& player, Request type, PacketReader payload);
  void greet(std::size_t io_thread, SessionKey from, Seat& seat, PacketReader payload);
  void join(Seat& seat, PacketReader payload);
  void chat(Member& player, std::uint32_t sequence, PacketReader payload);
  void pong(const Member& player, const Buffer& ping);
  void leave(Member& player);
  void refuse(std::size_t io_thread, SessionKey from, Seat& seat, Refusal reason);
  void end_player(Seat& seat);

  bool enter(Member& player, std::uint16_t number);
  bool enter_any(Member& player);
  void leave_room(Member& player);
  void end_matches();
  void end_match(std::size_t number);

  const ServerOptions& options_;
  Memory& memory_;
  typename Memory::Thread thread_;
  Post<Memory> post_;
  Stores<Memory> stores_;
  typename Memory::template Objects<Member> players_;
  std::vector<std::vector<Seat>> seats_;  // by IO thread and slot
  std::vector<std::unique_ptr<Room<Memory>>> rooms_;
  std::vector<Member*> homeless_;  // their match has just ended
  Snapshot<Memory> snapshot_;
  PlantedFaults planted_faults_;
  Rules rules_;
  std::vector<AdminRequest> admin_requests_;
  Counters counters_;
  std::uint64_t denied_ = 0;
  std::size_t player_count_ = 0;
  std::uint32_t next_player_ = 1;
  std::uint32_t tick_ = 0;
};

}  // namespace game

#include "world_requests.h"
#include "world_tick.h"
