// A class hierarchy whose objects live in the general pool, made and ended with plain new and delete.
#include "tarn/small_object.h"

#include <memory>
#include <vector>

struct Entity : tarn::SmallObject<Entity> {
  virtual ~Entity() = default;
  virtual int points() const { return 1; }
};
struct Monster : Entity {
  int points() const override { return 10; }
  char inventory[200] = {};  // larger than its base: new is told so
};

int main() {
  std::vector<std::unique_ptr<Entity>> entities;
  for (int i = 0; i < 100; ++i) entities.emplace_back(i % 2 == 0 ? new Entity : new Monster);
  int points = 0;
  for (const auto& entity : entities) points += entity->points();

  Monster* const several = new Monster[3];
  points += several[2].points();
  delete[] several;
  return points == 560 && tarn::usable_size(entities[1].get()) >= sizeof(Monster) ? 0 : 1;
}
