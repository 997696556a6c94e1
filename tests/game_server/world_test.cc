// The game without a network: what its ticks do with requests, on each memory policy.
#include "server/world/world.h"

#include "server/memory/new_memory.h"
#include "server/memory/pmr_memory.h"
#include "server/memory/pools_memory.h"
#include "support/prelude.h"

namespace game {
namespace {

struct Answer {
  SessionKey to;
  OutboundKind kind;
  Reply type;
  std::string payload;

  template <typename Value>
  Value value(std::size_t offset) const {
    Value value{};
    std::memcpy(&value, payload.data() + offset, sizeof(value));
    return value;
  }
};

template <typename Memory>
class WorldTest : public testing::Test {
 protected:
  static ServerOptions options() {
    ServerOptions options;
    options.io_threads = 1;
    options.rooms = 4;
    options.rules = {.room_members = 3, .creatures = 5, .room_budget_kib = 1024, .match_ticks = 0};
    return options;
  }

  static std::string request(Request type, const std::string& payload = "") {
    std::string packet(kHeaderBytes, '\0');
    static_cast<void>(PacketWriter(packet.data(), type, payload.size()));
    return packet + payload;
  }
  template <typename... Values>
  static std::string bytes(Values... values) {
    std::string text((sizeof(Values) + ... + 0), '\0');
    PacketWriter writer(text.data());
    (writer.put(values), ...);
    return text;
  }
  static std::string move(std::int16_t x, std::int16_t y) {
    return request(Request::kMove, bytes(std::uint32_t{7}, x, y));
  }
  static std::string say(const std::string& text) {
    return request(Request::kChat, bytes(std::uint32_t{7}, static_cast<std::uint16_t>(text.size())) + text);
  }

  void post(std::uint32_t slot, InboundKind kind, const std::string& packet = "") {
    auto copy = memory_.make_buffer(std::max<std::size_t>(packet.size(), 1));
    std::memcpy(copy.data(), packet.data(), packet.size());
    batch_.push_back({{slot, 1}, kind, Refusal::kMalformed, std::move(copy)});
  }
  void ask(std::uint32_t slot, const std::string& packet) { post(slot, InboundKind::kRequest, packet); }
  void enter(std::uint32_t slot, std::uint16_t room) {
    ask(slot, request(Request::kHello, bytes(std::uint8_t{3}) + "ann"));
    ask(slot, request(Request::kJoin, bytes(room)));
  }

  /// \returns what was answered.
  std::vector<Answer> tick(int count = 1) {
    std::vector<Answer> answers;
    for (; count > 0; --count) {
      world_->handle(0, batch_);
      world_->play();
      for (const auto& message : world_->post().batch(0))
        answers.push_back(
            {message.to, message.kind, static_cast<Reply>(message.packet.data()[2]),
             std::string(message.packet.data() + kHeaderBytes, message.packet.size() - kHeaderBytes)});
      world_->post().batch(0).clear();
    }
    return answers;
  }
  static std::vector<Answer> of(Reply type, const std::vector<Answer>& answers) {
    std::vector<Answer> found;
    for (const Answer& answer : answers)
      if (answer.type == type) found.push_back(answer);
    return found;
  }
  Figures figures() const {
    Figures figures;
    world_->add_to(figures);
    return figures;
  }
  void set_rules(const Rules& rules) { world_->set_rules(rules); }

  const ServerOptions options_ = options();
  Memory memory_;
  std::unique_ptr<World<Memory>> world_ = std::make_unique<World<Memory>>(memory_, options_);
  typename World<Memory>::Batch batch_;
};
using Policies = testing::Types<NewMemory, PmrMemory, PoolsMemory>;
TYPED_TEST_SUITE(WorldTest, Policies);

TYPED_TEST(WorldTest, APlayerGreetsJoinsAndMovesInOneTick) {
  this->enter(0, 2);
  this->ask(0, this->move(10, -3000));
  const auto answers = this->tick();
  ASSERT_EQ(this->of(Reply::kWelcome, answers).size(), 1u);
  ASSERT_EQ(this->of(Reply::kJoined, answers).size(), 1u);
  EXPECT_EQ(this->of(Reply::kJoined, answers)[0].template value<std::uint16_t>(0), 2);
  ASSERT_EQ(this->of(Reply::kMoved, answers).size(), 1u);
  EXPECT_EQ(this->of(Reply::kMoved, answers)[0].template value<std::int32_t>(8), 0) << "stops at the wall";
  EXPECT_EQ(this->figures().entities, 6u);
}

TYPED_TEST(WorldTest, WhatIsSaidReachesAllMembersOfTheRoomAndNoOther) {
  this->enter(0, 0);
  this->enter(1, 0);
  this->enter(2, 1);
  this->ask(0, this->say("hello"));
  const auto said = this->of(Reply::kSaid, this->tick());
  ASSERT_EQ(said.size(), 2u);
  for (const Answer& line : said) {
    EXPECT_NE(line.to.slot, 2u);
    EXPECT_NE(line.payload.find("ann"), std::string::npos);
    EXPECT_NE(line.payload.find("hello"), std::string::npos);
  }
}

TYPED_TEST(WorldTest, ShotsEndAndSoDoTheirShooters) {
  this->enter(0, 0);
  for (int i = 0; i < 9; ++i)
    this->ask(0, this->request(Request::kShoot, this->bytes(std::uint32_t{1}, std::uint32_t{0})));
  EXPECT_EQ(this->of(Reply::kShotTaken, this->tick()).back().template value<std::uint16_t>(4), 4);
  EXPECT_GE(this->figures().entities, 9u);
  this->tick(30);
  EXPECT_EQ(this->figures().entities, 6u);
  this->ask(0, this->request(Request::kShoot, this->bytes(std::uint32_t{1}, std::uint32_t{0})));
  this->post(0, InboundKind::kGone);
  this->tick();
  EXPECT_EQ(this->figures().entities, 0u);
}

TYPED_TEST(WorldTest, ARoomWithoutMembersDoesNotExist) {
  this->enter(0, 0);
  this->enter(1, 3);
  this->tick();
  EXPECT_EQ(this->figures().rooms, 2u);
  this->ask(0, this->request(Request::kLeave));
  EXPECT_EQ(this->of(Reply::kLeft, this->tick()).size(), 1u);
  EXPECT_EQ(this->figures().rooms, 1u);
  this->post(1, InboundKind::kGone);
  this->tick();
  EXPECT_EQ(this->figures().rooms, 0u);
  EXPECT_EQ(this->figures().players, 1u);
}

TYPED_TEST(WorldTest, ThingsAreUsedUpAndFoundAnewAndKeptOverRooms) {
  this->enter(0, 0);
  this->tick();
  for (int round = 0; round < 50; ++round) {
    for (int slot = 0; slot < 100; ++slot)
      this->ask(0,
                this->request(Request::kUse, this->bytes(std::uint32_t{9}, static_cast<std::uint8_t>(slot))));
    this->ask(0, this->request(Request::kJoin, this->bytes(static_cast<std::uint16_t>(round % 4))));
    for (const Answer& used : this->of(Reply::kUsed, this->tick(61)))
      EXPECT_LT(used.template value<std::uint32_t>(8), 6u);
  }
  EXPECT_EQ(this->figures().denied, 0u);
}

TYPED_TEST(WorldTest, WhenAMatchIsOverItsPlayersMeetInTheFirstRooms) {
  this->set_rules({.room_members = 3, .creatures = 1, .room_budget_kib = 1024, .match_ticks = 10});
  this->enter(0, 1);
  this->enter(1, 2);
  this->enter(2, 3);
  this->tick(1);
  EXPECT_EQ(this->figures().rooms, 3u);
  const auto joined = this->of(Reply::kJoined, this->tick(10));
  ASSERT_EQ(joined.size(), 3u);
  for (const Answer& answer : joined) EXPECT_EQ(answer.template value<std::uint16_t>(0), 0);
  EXPECT_EQ(this->figures().rooms, 1u);
  EXPECT_EQ(this->figures().entities, 4u);
}

TYPED_TEST(WorldTest, AFullRoomRefusesAndAnyRoomIsAnother) {
  for (std::uint32_t slot = 0; slot < 3; ++slot) this->enter(slot, 0);
  this->enter(3, 0);
  this->enter(4, kAnyRoom);
  const auto answers = this->tick();
  ASSERT_EQ(this->of(Reply::kError, answers).size(), 1u);
  EXPECT_EQ(this->of(Reply::kError, answers)[0].to.slot, 3u);
  EXPECT_EQ(this->of(Reply::kError, answers)[0].kind, OutboundKind::kClose);
  EXPECT_EQ(this->of(Reply::kJoined, answers).back().template value<std::uint16_t>(0), 1);
}

TYPED_TEST(WorldTest, ARoomAtItsBudgetRefusesItsOwnPlayersAndTheOthersPlayOn) {
  this->enter(0, 1);
  this->tick();
  this->set_rules({.room_members = 300, .creatures = 0, .room_budget_kib = 512, .match_ticks = 0});
  std::size_t inside = 0;
  for (std::uint32_t slot = 1; slot < 200; ++slot) this->enter(slot, 0);
  const auto answers = this->tick();
  inside = this->of(Reply::kJoined, answers).size();
  EXPECT_GT(inside, 4u);
  EXPECT_EQ(this->of(Reply::kError, answers).size(), 199 - inside);
  EXPECT_EQ(this->figures().denied, 199 - inside);
  // What members ask for beyond the budget is denied, and they stay.
  for (int i = 0; i < 200; ++i) this->ask(1, this->say(std::string(500, 'x')));
  this->ask(0, this->say("we have room"));
  const auto later = this->tick();
  EXPECT_EQ(this->of(Reply::kChatTaken, later).size() + this->of(Reply::kDenied, later).size(), 201u);
  EXPECT_EQ(this->of(Reply::kChatTaken, later).back().to.slot, 0u);
  EXPECT_EQ(this->figures().players, inside + 1);
  for (int i = 0; i < 100; ++i) this->ask(1, this->move(1, 1));
  EXPECT_FALSE(this->of(Reply::kMoved, this->tick()).empty());
}

TYPED_TEST(WorldTest, AMessageOfASessionThatHasGoneFindsNobody) {
  this->enter(0, 0);
  this->post(0, InboundKind::kGone);
  this->post(0, InboundKind::kGone);
  this->tick();
  EXPECT_EQ(this->figures().players, 0u);
  this->enter(0, 0);
  this->post(0, InboundKind::kRefuse);
  this->ask(0, this->move(1, 1));  // was on its way before the refusal
  const auto answers = this->tick();
  EXPECT_EQ(this->of(Reply::kError, answers).size(), 1u);
  EXPECT_TRUE(this->of(Reply::kMoved, answers).empty());
  EXPECT_EQ(this->figures().players, 0u);
}

TYPED_TEST(WorldTest, ASnapshotHasEveryEntityThatLives) {
  for (std::uint32_t slot = 0; slot < 8; ++slot) this->enter(slot, kAnyRoom);
  this->tick(60);
  EXPECT_EQ(this->figures().snapshots, 1u);
  EXPECT_EQ(this->figures().snapshot_entities, 8u + 3 * 5);
}

TYPED_TEST(WorldTest, AThreadThatIsBehindGetsItsAnswersAndNoBroadcasts) {
  this->enter(0, 0);
  this->tick();
  this->world_->post().set_behind(0, true);
  this->ask(0, this->say("anybody there?"));
  const auto answers = this->tick(240);
  EXPECT_EQ(this->of(Reply::kChatTaken, answers).size(), 1u);
  EXPECT_TRUE(this->of(Reply::kSaid, answers).empty());
  EXPECT_TRUE(this->of(Reply::kSnapshot, answers).empty());
  EXPECT_GT(this->figures().dropped, 1u);
}

TYPED_TEST(WorldTest, CreaturesThatFallAreReplaced) {
  this->enter(0, 0);
  for (int i = 0; i < 500; ++i) {
    for (int shot = 0; shot < 4; ++shot)
      this->ask(0, this->request(Request::kShoot,
                                 this->bytes(std::uint32_t{1}, std::int16_t{10}, std::int16_t{10})));
    this->ask(0, this->move(static_cast<std::int16_t>(i * 97 % 401 - 200),
                            static_cast<std::int16_t>(i * 89 % 401 - 200)));
    this->tick(4);
  }
  this->tick(30);
  EXPECT_EQ(this->figures().entities, 6u);
}

}  // namespace
}  // namespace game
