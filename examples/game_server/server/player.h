// What the game knows of a session, and the things that live in a room.
#pragma once
#include <cstdint>
#include <string_view>

#include "inventory.h"
#include "memory_policy.h"
#include "packet.h"

namespace game {

enum class EntityKind : std::uint16_t { kPlayer = 1, kCreature, kShot };

struct Entity {
  std::uint32_t id;
  EntityKind kind;
  std::uint16_t health;
  std::int32_t x;
  std::int32_t y;
  std::int32_t speed_x;  // per tick
  std::int32_t speed_y;
  std::uint32_t ticks_left;       // of a shot
  std::uint32_t shots_in_flight;  // of a player
  std::uint32_t hits;             // of a player
  std::uint32_t player;           // whose it is; 0 for a creature
  Entity* shooter;                // of a shot; nullptr once its player has left
  bool is_gone;                   // the next tick ends it

  EntityView view() const { return {id, x, y, health, static_cast<std::uint16_t>(kind)}; }
};

/// What a player asked for, kept as it came until the next tick.
struct Event {
  Request type;
  Entity* actor;
  Packet* packet;
  Event* next;
};

template <typename Memory>
class Room;

/// Above the soft limit a session gets no snapshots and is not read from; above the hard one it is closed.
struct OutboxLimits {
  std::size_t soft_bytes;
  std::size_t hard_bytes;
};

template <typename Memory>
struct Player {
  using Name = StringOver<typename Memory::Buffers>;

  std::uint32_t id;
  Name name;
  Outbox<Memory> outbox;
  Inventory<Memory> inventory;
  Room<Memory>* room = nullptr;
  Entity* entity = nullptr;

  Player(std::uint32_t player_id, Memory& memory, OutboxStores<Memory>& outboxes, ItemStore<Memory>& items)
      : id(player_id),
        name(AllocatorOver<char, typename Memory::Buffers>(memory.buffers())),
        outbox(outboxes),
        inventory(items) {}
  std::string_view shown_name() const { return {name.data(), name.size()}; }
};

}  // namespace game
