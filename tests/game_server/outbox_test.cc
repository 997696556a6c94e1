// The send queue: order, what is sent in part, shared packets, and that nothing of it is left behind.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "server/packet.h"

namespace game {
namespace {

template <typename Memory>
class OutboxTest : public testing::Test {
 protected:
  Packet* packet(const std::string& text) {
    Packet* const made = stores_.packets.create(text.size());
    std::memcpy(made->data(), text.data(), text.size());
    return made;
  }
  static std::string waiting(const Outbox<Memory>& outbox, std::size_t most = 128) {
    std::vector<iovec> pieces(most);
    pieces.resize(outbox.gather(pieces.data(), most));
    return std::accumulate(pieces.begin(), pieces.end(), std::string(),
                           [](std::string text, const iovec& piece) {
                             return text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
                           });
  }

  Memory memory_;
  OutboxStores<Memory> stores_{memory_};
};
using Policies = testing::Types<NewMemory, PmrMemory, PoolsMemory>;
TYPED_TEST_SUITE(OutboxTest, Policies);

TYPED_TEST(OutboxTest, PacketsLeaveInOrderWhereverASendStops) {
  const std::string all = "onetwothree";
  for (std::size_t sent = 0; sent <= all.size(); ++sent) {
    Outbox<TypeParam> outbox(this->stores_);
    for (const char* text : {"one", "two", "three"}) outbox.push(this->packet(text), 1);
    EXPECT_EQ(outbox.remove_sent(sent), (sent >= 3) + (sent >= 6) + (sent >= 11u)) << sent;
    EXPECT_EQ(this->waiting(outbox), all.substr(sent));
    EXPECT_EQ(outbox.bytes(), all.size() - sent);
    EXPECT_EQ(outbox.is_empty(), sent == all.size());
  }
  EXPECT_EQ(this->stores_.packets.live_count(), 0u);
  EXPECT_EQ(this->stores_.nodes.live_count(), 0u);
}

TYPED_TEST(OutboxTest, ByteByByteIsTheSameAsAtOnce) {
  Outbox<TypeParam> outbox(this->stores_);
  for (const char* text : {"ab", "c", "defg"}) outbox.push(this->packet(text), 1);
  std::string seen;
  while (!outbox.is_empty()) {
    seen += this->waiting(outbox).front();
    outbox.remove_sent(1);
  }
  EXPECT_EQ(seen, "abcdefg");
  EXPECT_EQ(outbox.bytes(), 0u);
}

TYPED_TEST(OutboxTest, ASharedPacketEndsWithItsLastQueue) {
  Packet* const shared = this->packet("all");
  Outbox<TypeParam> first(this->stores_);
  {
    Outbox<TypeParam> second(this->stores_);
    first.push_shared(shared, 1);
    second.push_shared(shared, 1);
    this->stores_.packets.release(shared);
    first.remove_sent(3);
    EXPECT_EQ(this->stores_.packets.live_count(), 1u);
    EXPECT_EQ(this->waiting(second), "all");
  }
  EXPECT_EQ(this->stores_.packets.live_count(), 0u);
  EXPECT_EQ(this->stores_.nodes.live_count(), 0u);
}

TYPED_TEST(OutboxTest, GatherFillsNoMoreThanItIsGiven) {
  Outbox<TypeParam> outbox(this->stores_);
  for (int i = 0; i < 10; ++i) outbox.push(this->packet("x"), 1);
  EXPECT_EQ(this->waiting(outbox, 4), "xxxx");
}

}  // namespace
}  // namespace game
