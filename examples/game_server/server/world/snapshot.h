// The state of the whole game at one moment: every live entity, written one behind the other, as for a
// replica or a restart. A snapshot is made within one tick, so that it is of one moment; two are kept: the
// last that is whole, and the one being written.
//
// Threads: the logic thread.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>

#include "../memory/sources.h"
#include "entity.h"

namespace game {

template <typename Memory>
class Snapshot {
 public:
  using Texts = typename Memory::Thread::Texts;

  explicit Snapshot(Texts& texts) : whole_(over(texts)), next_(over(texts)) {}

  template <typename Entities>
  void take(Entities& entities) {
    next_.clear();
    entities.for_each_live([this](const auto&, const Entity<Memory>& entity) { write(entity); });
    std::swap(whole_, next_);
    ++count_;
  }
  std::uint64_t count() const { return count_; }
  /// In the last one.
  std::size_t entity_count() const { return whole_.size() / kEntityBytes; }

 private:
  static constexpr std::size_t kEntityBytes = sizeof(EntityView) + 2 * sizeof(std::uint32_t) + 4;

  void write(const Entity<Memory>& entity) {
    const std::size_t place = next_.size();
    next_.resize(place + kEntityBytes);
    PacketWriter writer(next_.data() + place);
    writer.put(entity.view());
    writer.put(entity.player);
    writer.put(entity.hits);
    writer.put(entity.room);
    writer.put(static_cast<std::uint16_t>(entity.shots_in_flight));
  }

  VectorOver<char, Texts> whole_;
  VectorOver<char, Texts> next_;
  std::uint64_t count_ = 0;
};

}  // namespace game
