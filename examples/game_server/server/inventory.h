// What a player carries: forty things or so, each an object of its own, used up and found anew.
// Threads: one, the server's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../random.h"
#include "memory_policy.h"

namespace game {

struct Item {
  Item* next;
  std::uint32_t kind;
  std::uint32_t uses_left;
  std::uint32_t bonuses[4];
};

template <typename Memory>
using ItemStore = typename Memory::template Objects<Item>;

template <typename Memory>
class Inventory {
 public:
  explicit Inventory(ItemStore<Memory>& items) : items_(items) {}
  ~Inventory() {
    while (first_ != nullptr) items_.destroy(std::exchange(first_, first_->next));
  }
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  /// What the player had when it was last here.
  void load(std::uint32_t player) {
    Random random(player);
    for (int count = random.between(24, 56); count > 0; --count) find(random);
  }

  struct Use {
    std::uint32_t kind;
    std::uint32_t uses_left;
  };
  /// Uses the item in a slot, counted around; one that is used up makes way for a new find. \pre it was
  /// loaded
  Use use(std::size_t slot) {
    Item** place = &first_;
    for (slot %= count_; slot > 0; --slot) place = &(*place)->next;
    Item* const item = *place;
    const Use use = {item->kind, --item->uses_left};
    if (use.uses_left > 0) return use;
    *place = item->next;
    items_.destroy(item);
    --count_;
    Random random(use.kind + count_);
    find(random);
    return use;
  }

 private:
  void find(Random& random) {
    const auto kind = static_cast<std::uint32_t>(random.between(1, 5000));
    const auto uses = static_cast<std::uint32_t>(random.between(1, 6));
    first_ = items_.create(Item{first_, kind, uses, {kind % 7, kind % 5, kind % 3, kind % 2}});
    ++count_;
  }

  ItemStore<Memory>& items_;
  Item* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace game
