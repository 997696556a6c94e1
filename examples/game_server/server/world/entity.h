// What lives in a room: players' figures, creatures, shots.
#pragma once
#include <cstdint>

#include "../../protocol.h"

namespace game {

enum class EntityKind : std::uint16_t { kPlayer = 1, kCreature, kShot };

template <typename Memory>
struct Entity {
  typename Memory::template Ref<Entity> self;
  typename Memory::template Ref<Entity> shooter;  // of a shot; it may have ended
  typename Memory::template Ref<Entity> prey;     // whom a creature follows; it may have ended
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
  std::uint32_t player;           // that it belongs to; 0 for a creature
  std::uint16_t room;
  bool is_gone;  // the room's next tick ends it

  EntityView view() const { return {id, x, y, health, static_cast<std::uint16_t>(kind)}; }
};

}  // namespace game
