// A room without a network: what its ticks do to entities, events and members, on each memory policy.
#include "server/room.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace game {
namespace {

constexpr RoomRules kRules = {
    .most_members = 3, .creatures = 5, .outbox = {.soft_bytes = 4096, .hard_bytes = 16384}};
constexpr std::uint32_t kTicksOfAShot = 20;

template <typename Memory>
class RoomTest : public testing::Test {
 protected:
  Player<Memory>& enter(const std::string& name) {
    Player<Memory>& player =
        players_.emplace_back(static_cast<std::uint32_t>(players_.size() + 1), memory_, outboxes_, items_);
    player.name.assign(name);
    room_.add(player);
    return player;
  }
  void tick(std::uint32_t count = 1) {
    for (; count > 0; --count) room_.tick(++tick_);
  }
  void post(Player<Memory>& player, Request type, std::int16_t x, std::int16_t y) {
    char packet[kHeaderBytes + 8];
    PacketWriter writer(packet, type, 8);
    writer.put(std::uint32_t{7});
    writer.put(x);
    writer.put(y);
    if (type == Request::kShoot) ++player.entity->shots_in_flight;
    room_.post(player, type, {packet, sizeof(packet)});
  }
  void say(Player<Memory>& player, const std::string& text) {
    std::vector<char> packet(kHeaderBytes + 6 + text.size());
    PacketWriter writer(packet.data(), Request::kChat, 6 + text.size());
    writer.put(std::uint32_t{7});
    writer.put(static_cast<std::uint16_t>(text.size()));
    writer.put_bytes(text.data(), text.size());
    room_.post(player, Request::kChat, {packet.data(), packet.size()});
  }
  /// Payloads of one type in a player's outbox, which is empty then.
  std::vector<std::string> taken(Player<Memory>& player, Reply type) {
    std::vector<std::string> payloads;
    iovec piece;
    while (player.outbox.gather(&piece, 1) == 1) {
      const std::string packet(static_cast<const char*>(piece.iov_base), piece.iov_len);
      if (static_cast<Reply>(packet[2]) == type) payloads.push_back(packet.substr(kHeaderBytes));
      player.outbox.remove_sent(piece.iov_len);
    }
    return payloads;
  }

  Memory memory_;
  OutboxStores<Memory> outboxes_{memory_};
  RoomStores<Memory> stores_{memory_, outboxes_};
  ItemStore<Memory> items_{memory_, "items"};
  std::deque<Player<Memory>> players_;
  Room<Memory> room_{0, kRules, stores_};
  std::uint32_t tick_ = 0;
};
using Policies = testing::Types<NewMemory, PmrMemory, PoolsMemory>;
TYPED_TEST_SUITE(RoomTest, Policies);

TYPED_TEST(RoomTest, AMoveTakesEffectInTheNextTickAndStopsAtTheWall) {
  Player<TypeParam>& player = this->enter("one");
  player.entity->x = player.entity->y = 100;
  this->post(player, Request::kMove, 10, -300);
  EXPECT_EQ(player.entity->x, 100);
  this->tick();
  EXPECT_EQ(player.entity->x, 110);
  EXPECT_EQ(player.entity->y, 0);
  EXPECT_EQ(this->stores_.events.live_count(), 0u);
}

TYPED_TEST(RoomTest, AShotFliesHitsOnceAndEnds) {
  Player<TypeParam>& shooter = this->enter("one");
  Player<TypeParam>& victim = this->enter("two");
  shooter.entity->x = victim.entity->x = 1000;
  shooter.entity->y = victim.entity->y = 1000;
  const std::size_t before = this->stores_.entities.live_count();
  this->post(shooter, Request::kShoot, 0, 0);
  this->tick();
  EXPECT_LT(victim.entity->health, 100);
  EXPECT_EQ(shooter.entity->hits, 1u);
  EXPECT_EQ(shooter.entity->shots_in_flight, 0u);
  EXPECT_EQ(this->stores_.entities.live_count(), before);
}

TYPED_TEST(RoomTest, AShotThatMissesEndsByItself) {
  Player<TypeParam>& shooter = this->enter("one");
  const std::size_t before = this->stores_.entities.live_count();
  this->post(shooter, Request::kShoot, 0, 0);
  this->tick(kTicksOfAShot + 1);
  EXPECT_EQ(shooter.entity->shots_in_flight, 0u);
  EXPECT_EQ(this->stores_.entities.live_count(), before);
}

TYPED_TEST(RoomTest, WhoLeavesTakesShotsAlongAndHisEventsComeToNothing) {
  Player<TypeParam>& player = this->enter("one");
  this->enter("two");
  this->post(player, Request::kShoot, 3, 3);
  this->tick();
  this->post(player, Request::kShoot, 3, 3);
  this->post(player, Request::kMove, 3, 3);
  this->say(player, "bye");
  this->room_.remove(player);
  this->tick();
  EXPECT_EQ(this->stores_.events.live_count(), 0u);
  EXPECT_EQ(this->stores_.entities.live_count(), kRules.creatures + 1);
  EXPECT_TRUE(this->taken(this->players_.back(), Reply::kSaid).empty());
}

TYPED_TEST(RoomTest, WhatOneSaysAllHearFromOnePacket) {
  Player<TypeParam>& speaker = this->enter("ann");
  Player<TypeParam>& listener = this->enter("bob");
  this->say(speaker, "hello");
  this->tick();
  EXPECT_EQ(this->outboxes_.nodes.live_count(), this->outboxes_.packets.live_count() + 1);
  for (Player<TypeParam>* player : {&speaker, &listener}) {
    const auto said = this->taken(*player, Reply::kSaid);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("ann"), std::string::npos);
    EXPECT_NE(said[0].find("hello"), std::string::npos);
  }
  EXPECT_EQ(this->outboxes_.packets.live_count(), 0u);
}

TYPED_TEST(RoomTest, ChatIsKeptOnlyForAWhile) {
  Player<TypeParam>& speaker = this->enter("ann");
  for (int i = 0; i < 1000; ++i) this->say(speaker, std::string(400, 'x'));
  this->tick();
  EXPECT_EQ(this->taken(speaker, Reply::kSaid).size(), 1000u);
}

TYPED_TEST(RoomTest, ASnapshotComesEveryThirdTickAndNotToAFullQueue) {
  Player<TypeParam>& player = this->enter("one");
  this->tick(9);
  EXPECT_EQ(this->taken(player, Reply::kSnapshot).size(), 3u);
  while (player.outbox.bytes() <= kRules.outbox.soft_bytes)
    player.outbox.push(this->outboxes_.packets.create(1000), 1);
  this->tick(9);
  EXPECT_TRUE(this->taken(player, Reply::kSnapshot).empty());
}

TYPED_TEST(RoomTest, ALookSeesWhatIsWithinItsRadius) {
  Player<TypeParam>& player = this->enter("one");
  player.outbox.push(this->room_.view(player, 9, 0xffff), 1);
  const auto views = this->taken(player, Reply::kView);
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].size(), 6 + (kRules.creatures + 1) * kEntityViewBytes);
}

TYPED_TEST(RoomTest, CreaturesThatFallAreReplaced) {
  Player<TypeParam>& player = this->enter("one");
  for (int i = 0; i < 2000; ++i) {
    if (player.entity->shots_in_flight < 4) this->post(player, Request::kShoot, 40, 40);
    this->post(player, Request::kMove, static_cast<std::int16_t>(i % 97 - 48),
               static_cast<std::int16_t>(i % 89 - 44));
    this->tick();
    this->taken(player, Reply::kSnapshot);
  }
  EXPECT_GT(player.entity->hits, 0u);
  EXPECT_EQ(this->stores_.entities.live_count(), kRules.creatures + 1 + player.entity->shots_in_flight);
}

TYPED_TEST(RoomTest, AnItemThatIsUsedUpMakesWayForAnother) {
  Player<TypeParam>& player = this->enter("one");
  player.inventory.load(player.id);
  const std::size_t carried = this->items_.live_count();
  ASSERT_GE(carried, 24u);
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto used = player.inventory.use(i % 256);
    EXPECT_LT(used.uses_left, 6u);
    EXPECT_EQ(this->items_.live_count(), carried);
  }
}

TYPED_TEST(RoomTest, ARoomIsFullAtItsLimit) {
  for (std::size_t i = 0; i < kRules.most_members; ++i) {
    EXPECT_FALSE(this->room_.is_full());
    this->enter("x");
  }
  EXPECT_TRUE(this->room_.is_full());
}

}  // namespace
}  // namespace game
