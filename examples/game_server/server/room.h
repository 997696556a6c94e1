// A room: who is in it, what lives in it, what has been asked for, and its share of a tick.
//
// A tick walks through: events in the order they came; creatures and shots move, shots hit; what is gone
// ends; every kTicksPerSnapshot-th tick each member is sent what it sees; every kTicksPerScores-th all are
// sent one list of scores. What a tick needs for itself (the grid of cells, lists of what is seen) is scratch
// of the memory policy.
//
// Invariant: each member's entity is in entities_; an entity that an event names outlives the event, since
// entities end only in a tick, after the events.
// Threads: one, the server's.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "../protocol.h"
#include "../random.h"
#include "memory_policy.h"
#include "packet.h"
#include "player.h"

namespace game {

struct RoomRules {
  std::size_t most_members;
  std::size_t creatures;
  OutboxLimits outbox;
};

/// The pools that all rooms share.
template <typename Memory>
struct RoomStores {
  Memory& memory;
  OutboxStores<Memory>& outboxes;
  typename Memory::template Objects<Entity> entities;
  typename Memory::template Objects<Event> events;

  RoomStores(Memory& of, OutboxStores<Memory>& shared)
      : memory(of), outboxes(shared), entities(of, "entities"), events(of, "events") {}
};

template <typename Memory>
class Room {
 public:
  using Member = Player<Memory>;

  Room(std::uint16_t number, const RoomRules& rules, RoomStores<Memory>& stores);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  std::uint16_t number() const { return number_; }
  bool is_full() const { return members_.size() >= rules_.most_members; }
  std::size_t member_count() const { return members_.size(); }

  void add(Member& member);
  void remove(Member& member);
  /// Keeps a copy of the packet for the next tick.
  void post(const Member& member, Request type, std::string_view packet);
  /// Answers a look at once, with what is within the radius.
  Packet* view(const Member& member, std::uint32_t sequence, std::uint16_t radius);

  void tick(std::uint32_t tick);

 private:
  using Buffers = typename Memory::Buffers;
  using Scratch = typename Memory::Scratch;
  using EntityList = VectorOver<Entity*, Scratch>;
  using Grid = VectorOver<EntityList, Scratch>;

  static constexpr std::int32_t kSide = 2048;
  static constexpr std::int32_t kCellSide = 128;
  static constexpr std::int32_t kCellsPerSide = kSide / kCellSide;
  static constexpr std::int32_t kHitRadius = 24;
  static constexpr std::uint32_t kTicksPerShot = 20;
  static constexpr std::uint32_t kTicksPerSnapshot = 3;
  static constexpr std::uint32_t kTicksPerScores = 30;
  static constexpr std::size_t kMostSeen = 32;
  static constexpr std::size_t kLinesKept = 32;

  Entity* spawn(EntityKind kind, std::int32_t x, std::int32_t y);
  void spawn_creature();
  void handle_events();
  void handle(const Event& event);
  void move(Entity& actor, PacketReader& payload);
  void shoot(Entity& actor, PacketReader& payload);
  void say(const Entity& actor, PacketReader& payload);
  void keep_line(std::string_view line);
  void simulate();
  void move_on(Entity& entity);
  Grid grid_of_entities();
  void hit(Grid& grid);
  void damage(Entity& shot, Entity& victim);
  void end_gone();
  void send_snapshots(const Grid& grid);
  EntityList seen_by(const Entity& viewer, const Grid& grid) const;
  void send_snapshot(Member& member, const EntityList& seen);
  void send_scores();
  void send_to_all(Packet* packet);

  AllocatorOver<char, Scratch> scratch() { return AllocatorOver<char, Scratch>(stores_.memory.scratch()); }
  AllocatorOver<char, Buffers> buffers() { return AllocatorOver<char, Buffers>(stores_.memory.buffers()); }
  static std::int32_t clamped(std::int32_t place) { return std::clamp(place, 0, kSide - 1); }
  static std::size_t cell_of(std::int32_t x, std::int32_t y) {
    return static_cast<std::size_t>(y / kCellSide * kCellsPerSide + x / kCellSide);
  }

  const std::uint16_t number_;
  const RoomRules rules_;
  RoomStores<Memory>& stores_;
  Random random_;
  VectorOver<Member*, Buffers> members_;
  VectorOver<Entity*, Buffers> entities_;
  DequeOver<StringOver<Buffers>, Buffers> lines_;  // the last that were said
  Event* first_event_ = nullptr;
  Event* last_event_ = nullptr;
  std::uint32_t next_entity_ = 1;
  std::uint32_t tick_ = 0;
};

}  // namespace game

#include "room_tick.h"
