// Who comes to a room and leaves it, and what members ask of it; room.h says what and why.
#pragma once
#include <memory>
#include <new>
#include <utility>

#include "room.h"

namespace game {

template <typename Memory>
Room<Memory>::Room(std::uint16_t number, const Rules& rules, std::uint32_t tick, Stores<Memory>& stores)
    : number_(number),
      rules_(rules),
      first_tick_(tick - number % 64 * (rules.match_ticks / 256)),  // so that matches do not all end at once
      stores_(stores),
      random_(number + 1u),
      region_(stores.memory, "room", rules.room_budget_kib << 10),
      inside_(make_inside()) {}

template <typename Memory>
typename Room<Memory>::Inside* Room<Memory>::make_inside() {
  return new (region_.allocate(sizeof(Inside))) Inside(region_);
}

template <typename Memory>
Room<Memory>::~Room() {
  for (Figure* const entity : inside_->entities) stores_.entities.destroy(entity->self);
  region_.end(inside_);
}

template <typename Memory>
typename Room<Memory>::Figure* Room<Memory>::spawn(EntityKind kind, std::int32_t x, std::int32_t y) {
  const auto self = stores_.entities.create(Figure{.self = {},
                                                   .shooter = {},
                                                   .prey = {},
                                                   .id = next_entity_++,
                                                   .kind = kind,
                                                   .health = 100,
                                                   .x = clamped(x),
                                                   .y = clamped(y),
                                                   .speed_x = 0,
                                                   .speed_y = 0,
                                                   .ticks_left = 0,
                                                   .shots_in_flight = 0,
                                                   .hits = 0,
                                                   .player = 0,
                                                   .room = number_,
                                                   .is_gone = false});
  Figure* const entity = stores_.entities.get(self);
  entity->self = self;
  try {
    inside_->entities.push_back(entity);
  } catch (const std::bad_alloc&) {
    stores_.entities.destroy(self);
    throw;
  }
  return entity;
}

template <typename Memory>
void Room<Memory>::spawn_creature() {
  Figure* const creature =
      spawn(EntityKind::kCreature, random_.between(0, kSide - 1), random_.between(0, kSide - 1));
  creature->speed_x = random_.between(-6, 6);
  creature->speed_y = random_.between(-6, 6);
}

template <typename Memory>
void Room<Memory>::add(Member& member) {
  while (inside_->entities.size() < rules_.creatures) spawn_creature();
  inside_->members.push_back(&member);
  try {
    read_character(member);
    member.entity = spawn(EntityKind::kPlayer, random_.between(0, kSide - 1), random_.between(0, kSide - 1));
  } catch (const std::bad_alloc&) {
    if (member.character != nullptr) end_character(member);
    inside_->members.pop_back();
    throw;
  }
  member.written.reset();
  member.entity->player = member.id;
  member.room = this;
}

template <typename Memory>
void Room<Memory>::read_character(Member& member) {
  const std::string_view written(member.written ? member.written.data() : "", member.written.size());
  void* const place = region_.allocate(sizeof(Character<Memory>));
  try {
    member.character = written.empty() ? new (place) Character<Memory>(region_, member.id)
                                       : new (place) Character<Memory>(region_, member.id, written);
  } catch (const std::bad_alloc&) {
    region_.deallocate(place, sizeof(Character<Memory>));
    throw;
  }
}

template <typename Memory>
void Room<Memory>::write_character(Member& member) {
  member.written = stores_.memory.make_buffer(member.character->written_bytes());
  PacketWriter writer(member.written.data());
  member.character->write(writer);
}

template <typename Memory>
void Room<Memory>::end_character(Member& member) {
  std::destroy_at(member.character);
  region_.deallocate(std::exchange(member.character, nullptr), sizeof(Character<Memory>));
}

template <typename Memory>
void Room<Memory>::let_go(Member& member) {
  write_character(member);
  member.entity->is_gone = true;
  member.entity = nullptr;
  member.room = nullptr;
}

template <typename Memory>
void Room<Memory>::remove(Member& member) {
  let_go(member);
  end_character(member);
  auto& members = inside_->members;
  *std::find(members.begin(), members.end(), &member) = members.back();
  members.pop_back();
}

template <typename Memory>
template <typename Visit>
void Room<Memory>::end_match(Visit visit_member) {
  for (auto& members = inside_->members; !members.empty(); members.pop_back()) {
    Member& member = *members.back();
    let_go(member);
    region_.end(std::exchange(member.character, nullptr));
    visit_member(member);
  }
}

template <typename Memory>
void Room<Memory>::move(Member& member, std::int16_t x, std::int16_t y) {
  Figure& actor = *member.entity;
  if (random_.next() % 16 == 0) member.character->progress();
  actor.x = clamped(actor.x + x);
  actor.y = clamped(actor.y + y);
}

template <typename Memory>
void Room<Memory>::shoot(Member& member, std::int16_t speed_x, std::int16_t speed_y) {
  constexpr std::uint32_t kMostShots = 4;
  Figure& actor = *member.entity;
  if (actor.shots_in_flight >= kMostShots) return;
  Figure* const shot = spawn(EntityKind::kShot, actor.x, actor.y);
  ++actor.shots_in_flight;
  shot->speed_x = speed_x;
  shot->speed_y = speed_y;
  shot->ticks_left = kTicksPerShot;
  shot->player = actor.player;
  shot->shooter = actor.self;
}

template <typename Memory>
void Room<Memory>::say(Member& member, std::string_view text) {
  auto& lines = inside_->lines;
  lines.emplace_back(text, over(region_));
  if (lines.size() > kLinesKept) lines.pop_front();
  // What was said in the room reaches one member as a letter, too.
  const std::string_view name = member.shown_name();
  const auto reader = static_cast<std::size_t>(random_.between(0, static_cast<int>(member_count()) - 1));
  inside_->members[reader]->character->receive(name, text);
  PacketWriter writer(nullptr);
  const Buffer packet = stores_.post.begin(Reply::kSaid, 7 + name.size() + text.size(), writer);
  writer.put(member.id);
  writer.put(static_cast<std::uint8_t>(name.size()));
  writer.put_bytes(name.data(), name.size());
  writer.put(static_cast<std::uint16_t>(text.size()));
  writer.put_bytes(text.data(), text.size());
  send_to_all(packet);
}

template <typename Memory>
typename Room<Memory>::Buffer Room<Memory>::view(const Member& member, std::uint32_t sequence,
                                                 std::uint16_t radius) {
  const Figure& viewer = *member.entity;
  std::array<EntityView, kMostViews> seen;
  std::size_t count = 0;
  for (const Figure* const entity : inside_->entities) {
    if (count == kMostViews) break;
    if (std::abs(entity->x - viewer.x) <= radius && std::abs(entity->y - viewer.y) <= radius)
      seen[count++] = entity->view();
  }
  PacketWriter writer(nullptr);
  Buffer packet = stores_.post.begin(Reply::kView, 6 + count * kEntityViewBytes, writer);
  writer.put(sequence);
  writer.put(static_cast<std::uint16_t>(count));
  writer.put_bytes(seen.data(), count * kEntityViewBytes);
  return packet;
}

}  // namespace game
