// What a room does; room.h says what and why.
#pragma once
#include "room.h"

namespace game {

template <typename Memory>
Room<Memory>::Room(std::uint16_t number, const RoomRules& rules, RoomStores<Memory>& stores)
    : number_(number),
      rules_(rules),
      stores_(stores),
      random_(number + 1u),
      members_(buffers()),
      entities_(buffers()),
      lines_(buffers()) {
  for (std::size_t i = 0; i < rules_.creatures; ++i) spawn_creature();
}

template <typename Memory>
Room<Memory>::~Room() {
  while (first_event_ != nullptr) {
    Event* const event = std::exchange(first_event_, first_event_->next);
    stores_.outboxes.packets.release(event->packet);
    stores_.events.destroy(event);
  }
  for (Entity* const entity : entities_) stores_.entities.destroy(entity);
}

template <typename Memory>
Entity* Room<Memory>::spawn(EntityKind kind, std::int32_t x, std::int32_t y) {
  Entity* const entity = stores_.entities.create(Entity{.id = next_entity_++,
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
                                                        .shooter = nullptr,
                                                        .is_gone = false});
  entities_.push_back(entity);
  return entity;
}

template <typename Memory>
void Room<Memory>::spawn_creature() {
  Entity* const creature =
      spawn(EntityKind::kCreature, random_.between(0, kSide - 1), random_.between(0, kSide - 1));
  creature->speed_x = random_.between(-6, 6);
  creature->speed_y = random_.between(-6, 6);
}

template <typename Memory>
void Room<Memory>::add(Member& member) {
  member.entity = spawn(EntityKind::kPlayer, random_.between(0, kSide - 1), random_.between(0, kSide - 1));
  member.entity->player = member.id;
  member.room = this;
  members_.push_back(&member);
}

template <typename Memory>
void Room<Memory>::remove(Member& member) {
  member.entity->is_gone = true;
  member.entity = nullptr;
  member.room = nullptr;
  members_.erase(std::find(members_.begin(), members_.end(), &member));
}

template <typename Memory>
void Room<Memory>::post(const Member& member, Request type, std::string_view packet) {
  Packet* const copy = stores_.outboxes.packets.create(packet.size());
  std::memcpy(copy->data(), packet.data(), packet.size());
  Event* const event = stores_.events.create(Event{type, member.entity, copy, nullptr});
  if (first_event_ == nullptr)
    first_event_ = event;
  else
    last_event_->next = event;
  last_event_ = event;
}

template <typename Memory>
Packet* Room<Memory>::view(const Member& member, std::uint32_t sequence, std::uint16_t radius) {
  const Entity& viewer = *member.entity;
  std::array<EntityView, kMostViews> seen;
  std::size_t count = 0;
  for (const Entity* const entity : entities_) {
    if (count == kMostViews) break;
    if (std::abs(entity->x - viewer.x) <= radius && std::abs(entity->y - viewer.y) <= radius)
      seen[count++] = entity->view();
  }
  PacketWriter writer(nullptr);
  Packet* const packet = stores_.outboxes.packets.create(Reply::kView, 6 + count * kEntityViewBytes, writer);
  writer.put(sequence);
  writer.put(static_cast<std::uint16_t>(count));
  writer.put_bytes(seen.data(), count * kEntityViewBytes);
  return packet;
}

template <typename Memory>
void Room<Memory>::tick(std::uint32_t tick) {
  tick_ = tick;
  stores_.memory.begin_scratch();
  handle_events();
  simulate();
  Grid grid = grid_of_entities();
  hit(grid);
  // Rooms take turns, so that ticks are alike.
  if ((tick_ + number_) % kTicksPerSnapshot == 0) send_snapshots(grid);
  if ((tick_ + number_) % kTicksPerScores == 0) send_scores();
  end_gone();
}

template <typename Memory>
void Room<Memory>::handle_events() {
  while (first_event_ != nullptr) {
    Event* const event = std::exchange(first_event_, first_event_->next);
    if (!event->actor->is_gone) handle(*event);
    stores_.outboxes.packets.release(event->packet);
    stores_.events.destroy(event);
  }
}

template <typename Memory>
void Room<Memory>::handle(const Event& event) {
  PacketReader payload(event.packet->data() + kHeaderBytes, event.packet->size - kHeaderBytes);
  payload.get<std::uint32_t>();  // the sequence was answered when the packet came
  if (event.type == Request::kMove) return move(*event.actor, payload);
  if (event.type == Request::kShoot) return shoot(*event.actor, payload);
  say(*event.actor, payload);
}

template <typename Memory>
void Room<Memory>::move(Entity& actor, PacketReader& payload) {
  actor.x = clamped(actor.x + payload.get<std::int16_t>());
  actor.y = clamped(actor.y + payload.get<std::int16_t>());
}

template <typename Memory>
void Room<Memory>::shoot(Entity& actor, PacketReader& payload) {
  Entity* const shot = spawn(EntityKind::kShot, actor.x, actor.y);
  shot->speed_x = payload.get<std::int16_t>();
  shot->speed_y = payload.get<std::int16_t>();
  shot->ticks_left = kTicksPerShot;
  shot->player = actor.player;
  shot->shooter = &actor;
}

template <typename Memory>
void Room<Memory>::say(const Entity& actor, PacketReader& payload) {
  const std::string_view text = payload.get_text(payload.get<std::uint16_t>());
  const auto speaker = std::find_if(members_.begin(), members_.end(),
                                    [&](const Member* member) { return member->entity == &actor; });
  const std::string_view name = (*speaker)->shown_name();
  PacketWriter writer(nullptr);
  Packet* const packet = stores_.outboxes.packets.create(Reply::kSaid, 7 + name.size() + text.size(), writer);
  writer.put(actor.player);
  writer.put(static_cast<std::uint8_t>(name.size()));
  writer.put_bytes(name.data(), name.size());
  writer.put(static_cast<std::uint16_t>(text.size()));
  writer.put_bytes(text.data(), text.size());
  send_to_all(packet);
  keep_line(text);
}

template <typename Memory>
void Room<Memory>::keep_line(std::string_view line) {
  if (lines_.size() == kLinesKept) lines_.pop_front();
  lines_.emplace_back(line, buffers());
}

template <typename Memory>
void Room<Memory>::simulate() {
  for (Entity* const entity : entities_)
    if (entity->kind != EntityKind::kPlayer) move_on(*entity);
}

template <typename Memory>
void Room<Memory>::move_on(Entity& entity) {
  entity.x = clamped(entity.x + entity.speed_x);
  entity.y = clamped(entity.y + entity.speed_y);
  if (entity.kind == EntityKind::kShot) {
    if (entity.shooter->is_gone || --entity.ticks_left == 0) entity.is_gone = true;
    return;
  }
  if (random_.next() % 64 == 0) {
    entity.speed_x = random_.between(-6, 6);
    entity.speed_y = random_.between(-6, 6);
  }
}

template <typename Memory>
typename Room<Memory>::Grid Room<Memory>::grid_of_entities() {
  Grid grid(kCellsPerSide * kCellsPerSide, EntityList(scratch()), scratch());
  for (Entity* const entity : entities_)
    if (!entity->is_gone) grid[cell_of(entity->x, entity->y)].push_back(entity);
  return grid;
}

template <typename Memory>
void Room<Memory>::hit(Grid& grid) {
  for (EntityList& cell : grid)
    for (Entity* const shot : cell) {
      if (shot->kind != EntityKind::kShot || shot->is_gone) continue;
      for (Entity* const victim : cell) {
        const bool is_near =
            std::abs(victim->x - shot->x) <= kHitRadius && std::abs(victim->y - shot->y) <= kHitRadius;
        if (!is_near || victim->kind == EntityKind::kShot || victim == shot->shooter || victim->is_gone)
          continue;
        damage(*shot, *victim);
        break;
      }
    }
}

template <typename Memory>
void Room<Memory>::damage(Entity& shot, Entity& victim) {
  shot.is_gone = true;
  ++shot.shooter->hits;
  victim.health = static_cast<std::uint16_t>(victim.health > 20 ? victim.health - 20 : 0);
  if (victim.health > 0) return;
  if (victim.kind == EntityKind::kCreature) {
    victim.is_gone = true;
    return;
  }
  victim.health = 100;  // a player starts again elsewhere
  victim.x = random_.between(0, kSide - 1);
  victim.y = random_.between(0, kSide - 1);
}

template <typename Memory>
void Room<Memory>::end_gone() {
  // Shots first lose their shooter, as entities end in any order.
  std::size_t creatures_lost = 0;
  for (Entity* const entity : entities_) {
    if (entity->kind != EntityKind::kShot) continue;
    if (entity->shooter->is_gone) entity->is_gone = true;
    if (entity->is_gone) --entity->shooter->shots_in_flight;
  }
  for (std::size_t i = 0; i < entities_.size();) {
    Entity* const entity = entities_[i];
    if (!entity->is_gone) {
      ++i;
      continue;
    }
    creatures_lost += entity->kind == EntityKind::kCreature;
    stores_.entities.destroy(entity);
    entities_[i] = entities_.back();
    entities_.pop_back();
  }
  for (; creatures_lost > 0; --creatures_lost) spawn_creature();
}

template <typename Memory>
void Room<Memory>::send_snapshots(const Grid& grid) {
  for (Member* const member : members_)
    if (member->outbox.bytes() <= rules_.outbox.soft_bytes)
      send_snapshot(*member, seen_by(*member->entity, grid));
}

template <typename Memory>
typename Room<Memory>::EntityList Room<Memory>::seen_by(const Entity& viewer, const Grid& grid) const {
  EntityList seen(AllocatorOver<Entity*, Scratch>(stores_.memory.scratch()));
  const std::int32_t column = viewer.x / kCellSide;
  const std::int32_t row = viewer.y / kCellSide;
  for (std::int32_t y = std::max(row - 1, 0); y <= std::min(row + 1, kCellsPerSide - 1); ++y)
    for (std::int32_t x = std::max(column - 1, 0); x <= std::min(column + 1, kCellsPerSide - 1); ++x)
      for (Entity* const entity : grid[static_cast<std::size_t>(y * kCellsPerSide + x)])
        if (seen.size() < kMostSeen && !entity->is_gone) seen.push_back(entity);
  return seen;
}

template <typename Memory>
void Room<Memory>::send_snapshot(Member& member, const EntityList& seen) {
  PacketWriter writer(nullptr);
  Packet* const packet =
      stores_.outboxes.packets.create(Reply::kSnapshot, 6 + seen.size() * kEntityViewBytes, writer);
  writer.put(tick_);
  writer.put(static_cast<std::uint16_t>(seen.size()));
  for (const Entity* const entity : seen) writer.put(entity->view());
  member.outbox.push(packet, tick_);
}

template <typename Memory>
void Room<Memory>::send_scores() {
  struct Score {
    std::uint32_t player;
    std::uint32_t hits;
  };
  VectorOver<Score, Scratch> scores(scratch());
  for (const Member* const member : members_) scores.push_back({member->id, member->entity->hits});
  std::sort(scores.begin(), scores.end(), [](const Score& a, const Score& b) { return a.hits > b.hits; });
  PacketWriter writer(nullptr);
  Packet* const packet =
      stores_.outboxes.packets.create(Reply::kScores, 6 + scores.size() * sizeof(Score), writer);
  writer.put(tick_);
  writer.put(static_cast<std::uint16_t>(scores.size()));
  for (const Score& score : scores) writer.put(score);
  send_to_all(packet);
}

template <typename Memory>
void Room<Memory>::send_to_all(Packet* packet) {
  for (Member* const member : members_) member->outbox.push_shared(packet, tick_);
  stores_.outboxes.packets.release(packet);
}

}  // namespace game
