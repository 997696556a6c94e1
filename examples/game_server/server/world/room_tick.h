// A room's share of a tick; room.h says what and why.
#pragma once
#include "room.h"

namespace game {

template <typename Memory>
void Room<Memory>::tick(std::uint32_t tick) {
  tick_ = tick;
  stores_.scratch.begin();
  simulate();
  Grid grid = grid_of_entities();
  // Rooms take turns, so that ticks are alike.
  if ((tick_ + number_) % kTicksPerChoice == 0) choose_prey(grid);
  hit(grid);
  send_snapshots(grid);
  if ((tick_ + number_) % kTicksPerScores == 0) send_scores();
  end_gone();
}

template <typename Memory>
void Room<Memory>::simulate() {
  for (Figure* const entity : inside_->entities)
    if (entity->kind != EntityKind::kPlayer) move_on(*entity);
}

template <typename Memory>
void Room<Memory>::move_on(Figure& entity) {
  entity.x = clamped(entity.x + entity.speed_x);
  entity.y = clamped(entity.y + entity.speed_y);
  if (entity.kind == EntityKind::kShot) {
    if (--entity.ticks_left == 0) entity.is_gone = true;
    return;
  }
  if (const Figure* const prey = stores_.entities.get(entity.prey)) {
    entity.speed_x = std::clamp(prey->x - entity.x, -6, 6);
    entity.speed_y = std::clamp(prey->y - entity.y, -6, 6);
  } else if (random_.next() % 64 == 0) {
    entity.speed_x = random_.between(-6, 6);
    entity.speed_y = random_.between(-6, 6);
  }
}

template <typename Memory>
typename Room<Memory>::Grid Room<Memory>::grid_of_entities() {
  Scratch& scratch = stores_.scratch;
  Grid grid(kCellsPerSide * kCellsPerSide, Nearby(over(scratch)), over(scratch));
  for (Figure* const entity : inside_->entities)
    if (!entity->is_gone) grid[cell_of(entity->x, entity->y)].push_back(entity);
  return grid;
}

/// Visits what is in the cells around an entity, until `visit` returns false.
template <typename Memory>
template <typename Visit>
void Room<Memory>::for_each_near(const Figure& of, const Grid& grid, Visit visit) {
  const std::int32_t column = of.x / kCellSide;
  const std::int32_t row = of.y / kCellSide;
  for (std::int32_t y = std::max(row - 1, 0); y <= std::min(row + 1, kCellsPerSide - 1); ++y)
    for (std::int32_t x = std::max(column - 1, 0); x <= std::min(column + 1, kCellsPerSide - 1); ++x)
      for (Figure* const entity : grid[static_cast<std::size_t>(y * kCellsPerSide + x)])
        if (!entity->is_gone && !visit(*entity)) return;
}

template <typename Memory>
void Room<Memory>::choose_prey(const Grid& grid) {
  for (Figure* const entity : inside_->entities) {
    if (entity->kind != EntityKind::kCreature) continue;
    const Figure* const prey = nearest_player(*entity, grid);
    entity->prey = prey != nullptr ? prey->self : typename Memory::template Ref<Figure>{};
  }
}

template <typename Memory>
typename Room<Memory>::Figure* Room<Memory>::nearest_player(const Figure& creature, const Grid& grid) {
  Nearby players(over(stores_.scratch));
  for_each_near(creature, grid, [&](Figure& entity) {
    if (entity.kind == EntityKind::kPlayer) players.push_back(&entity);
    return true;
  });
  const auto distance = [&](const Figure* player) {
    return std::abs(player->x - creature.x) + std::abs(player->y - creature.y);
  };
  const auto nearest = std::min_element(players.begin(), players.end(), [&](const auto* a, const auto* b) {
    return distance(a) < distance(b);
  });
  return nearest != players.end() ? *nearest : nullptr;
}

template <typename Memory>
void Room<Memory>::hit(Grid& grid) {
  for (Nearby& cell : grid)
    for (Figure* const shot : cell) {
      if (shot->kind != EntityKind::kShot || shot->is_gone) continue;
      for (Figure* const victim : cell) {
        const bool is_near =
            std::abs(victim->x - shot->x) <= kHitRadius && std::abs(victim->y - shot->y) <= kHitRadius;
        if (!is_near || victim->kind == EntityKind::kShot || victim->self == shot->shooter || victim->is_gone)
          continue;
        damage(*shot, *victim);
        break;
      }
    }
}

template <typename Memory>
void Room<Memory>::damage(Figure& shot, Figure& victim) {
  shot.is_gone = true;
  if (Figure* const shooter = stores_.entities.get(shot.shooter)) ++shooter->hits;
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
  std::size_t creatures_lost = 0;
  auto& entities = inside_->entities;
  for (std::size_t i = 0; i < entities.size();) {
    Figure* const entity = entities[i];
    if (!entity->is_gone) {
      ++i;
      continue;
    }
    creatures_lost += entity->kind == EntityKind::kCreature;
    if (Figure* const shooter = stores_.entities.get(entity->shooter)) --shooter->shots_in_flight;
    stores_.entities.destroy(entity->self);
    entities[i] = entities.back();
    entities.pop_back();
  }
  for (; creatures_lost > 0; --creatures_lost) spawn_creature();
}

template <typename Memory>
void Room<Memory>::send_snapshots(const Grid& grid) {
  auto& members = inside_->members;
  for (std::size_t i = (tick_ + number_) % kTicksPerSnapshot; i < members.size(); i += kTicksPerSnapshot)
    send_snapshot(*members[i], seen_by(*members[i]->entity, grid));
}

template <typename Memory>
typename Room<Memory>::Nearby Room<Memory>::seen_by(const Figure& viewer, const Grid& grid) {
  Nearby seen(over(stores_.scratch));
  for_each_near(viewer, grid, [&](Figure& entity) {
    seen.push_back(&entity);
    return seen.size() < kMostSeen;
  });
  return seen;
}

template <typename Memory>
void Room<Memory>::send_snapshot(const Member& member, const Nearby& seen) {
  PacketWriter writer(nullptr);
  Buffer packet = stores_.post.begin(Reply::kSnapshot, 6 + seen.size() * kEntityViewBytes, writer);
  writer.put(tick_);
  writer.put(static_cast<std::uint16_t>(seen.size()));
  for (const Figure* const entity : seen) writer.put(entity->view());
  stores_.post.send(member, OutboundKind::kSnapshot, std::move(packet));
}

template <typename Memory>
void Room<Memory>::send_scores() {
  constexpr std::size_t kMostScores = 32;
  VectorOver<const Figure*, Scratch> best(over(stores_.scratch));
  for (const Member* const member : inside_->members) best.push_back(member->entity);
  std::sort(best.begin(), best.end(), [](const auto* a, const auto* b) { return a->hits > b->hits; });
  if (best.size() > kMostScores) best.resize(kMostScores);
  PacketWriter writer(nullptr);
  const Buffer packet = stores_.post.begin(Reply::kScores, 6 + best.size() * 8, writer);
  writer.put(tick_);
  writer.put(static_cast<std::uint16_t>(best.size()));
  for (const Figure* const entity : best) {
    writer.put(entity->player);
    writer.put(entity->hits);
  }
  send_to_all(packet);
}

template <typename Memory>
void Room<Memory>::send_to_all(const Buffer& packet) {
  for (const Member* const member : inside_->members)
    stores_.post.send(*member, OutboundKind::kBroadcast, packet);
}

}  // namespace game
