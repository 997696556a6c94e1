// An entity aims at another one that may be gone: the handle knows.
#include "tarn/handle_pool.h"

#include <cstdio>

struct Entity {
  int health = 100;
  tarn::Handle<Entity> target;
};

int main() {
  tarn::HandlePool<Entity> entities({.name = "entities", .at_end = tarn::AtPoolEnd::kDestroy});
  const tarn::Handle<Entity> goblin = entities.create();
  const tarn::Handle<Entity> hero = entities.create();
  entities.at(hero).target = goblin;

  if (Entity* const target = entities.get(entities.at(hero).target)) target->health -= 30;
  const bool was_hit = entities.at(goblin).health == 70;

  entities.destroy(goblin);
  const tarn::Handle<Entity> orc = entities.create();  // most likely in the goblin's memory
  const bool is_gone = entities.get(entities.at(hero).target) == nullptr;

  int total = 0;
  entities.for_each_live([&](tarn::Handle<Entity>, Entity& entity) { total += entity.health; });
  std::printf("%d health in all; ", total);
  std::printf("the target is %s, the orc has %d\n", is_gone ? "gone" : "there", entities.at(orc).health);
  return was_hit && is_gone && !entities.destroy(goblin) ? 0 : 1;
}
