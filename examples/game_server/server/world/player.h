// What the logic thread knows of a session that has greeted.
#pragma once
#include <cstdint>
#include <string_view>

#include "../memory/sources.h"
#include "../messages.h"
#include "character.h"
#include "entity.h"

namespace game {

template <typename Memory>
class Room;

template <typename Memory>
struct Player {
  using Texts = typename Memory::Thread::Texts;

  std::uint32_t id;
  std::uint8_t io_thread;
  SessionKey session;
  StringOver<Texts> name;
  typename Memory::Buffer written;  // the character, while the player is in no room

  // In a room:
  Room<Memory>* room = nullptr;
  Entity<Memory>* entity = nullptr;
  Character<Memory>* character = nullptr;  // in the room's region

  Player(std::uint32_t player_id, std::uint8_t thread, SessionKey key, std::string_view called, Texts& texts)
      : id(player_id), io_thread(thread), session(key), name(called, over(texts)) {}
  std::string_view shown_name() const { return {name.data(), name.size()}; }
};

}  // namespace game
