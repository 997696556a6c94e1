// Rooms that open and end, and the tick; world.h says how it goes.
#pragma once
#include <new>
#include <utility>

#include "world.h"

namespace game {

template <typename Memory>
World<Memory>::World(Memory& memory, const ServerOptions& options)
    : options_(options),
      memory_(memory),
      thread_(memory, "tick"),
      post_(memory, options.io_threads),
      stores_{.memory = memory_, .thread = thread_, .post = post_},
      players_(thread_, "players"),
      seats_(options.io_threads),
      rooms_(options.rooms),
      snapshot_(thread_.texts()),
      planted_faults_(options.planted),
      rules_(options.rules) {}

template <typename Memory>
World<Memory>::~World() {
  for (std::vector<Seat>& seats : seats_)
    for (Seat& seat : seats) end_player(seat);
}

template <typename Memory>
bool World<Memory>::enter(Member& player, std::uint16_t number) {
  std::unique_ptr<Room<Memory>>& room = rooms_[number];
  try {
    if (room == nullptr) room = std::make_unique<Room<Memory>>(number, rules_, tick_, stores_);
    if (room->is_full()) return false;
    room->add(player);
  } catch (const std::bad_alloc&) {
    ++denied_;
    if (room != nullptr && room->member_count() == 0) room.reset();
    return false;
  }
  post_.tell(player, Reply::kJoined, number, player.entity->id,
             static_cast<std::uint16_t>(room->member_count()));
  return true;
}

template <typename Memory>
bool World<Memory>::enter_any(Member& player) {
  for (std::uint16_t number = 0; number < rooms_.size(); ++number) {
    if (rooms_[number] != nullptr && rooms_[number]->is_full()) continue;
    if (enter(player, number)) return true;
  }
  return false;
}

template <typename Memory>
void World<Memory>::leave_room(Member& player) {
  std::unique_ptr<Room<Memory>>& room = rooms_[player.room->number()];
  room->remove(player);
  if (room->member_count() == 0) room.reset();
}

template <typename Memory>
void World<Memory>::end_matches() {
  for (std::size_t number = 0; number < rooms_.size(); ++number)
    if (rooms_[number] != nullptr && rooms_[number]->is_match_over(tick_)) end_match(number);
}

template <typename Memory>
void World<Memory>::end_match(std::size_t number) {
  rooms_[number]->end_match([this](Member& member) { homeless_.push_back(&member); });
  rooms_[number].reset();
  for (Member* const player : homeless_)
    if (!enter_any(*player)) post_.tell(*player, Reply::kLeft);
  homeless_.clear();
}

template <typename Memory>
void World<Memory>::play() {
  ++tick_;
  end_matches();
  for (const std::unique_ptr<Room<Memory>>& room : rooms_)
    if (room != nullptr) room->tick(tick_);
  if (tick_ % kTicksPerSnapshot == 0) snapshot_.take(stores_.entities);
}

template <typename Memory>
void World<Memory>::add_to(Figures& figures) const {
  figures.add(counters_);
  figures.dropped += post_.dropped();
  figures.denied = denied_;
  figures.snapshots = snapshot_.count();
  figures.snapshot_entities = snapshot_.entity_count();
  figures.players = player_count_;
  figures.entities = stores_.entities.live_count();
  for (const auto& room : rooms_) figures.rooms += room != nullptr;
}

}  // namespace game
