// What the policies without a library use in its place, the queues of bytes of all policies, and mailboxes.
#include <numeric>

#include "server/memory/new_memory.h"
#include "server/memory/pmr_memory.h"
#include "server/memory/pools_memory.h"
#include "server/messages.h"
#include "support/prelude.h"

namespace game {
namespace {

template <typename Memory>
class ChainTest : public testing::Test {
 protected:
  typename Memory::Buffer bytes(const std::string& text) {
    auto made = memory_.make_buffer(text.size());
    std::memcpy(made.data(), text.data(), text.size());
    return made;
  }
  static std::string waiting(const typename Memory::Chain& chain, std::size_t most = 128) {
    std::vector<iovec> pieces(most);
    pieces.resize(chain.fill_iovecs(pieces.data(), most));
    return std::accumulate(pieces.begin(), pieces.end(), std::string(),
                           [](std::string text, const iovec& piece) {
                             return text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
                           });
  }
  Memory memory_;
};
using Policies = testing::Types<NewMemory, PmrMemory, PoolsMemory>;
TYPED_TEST_SUITE(ChainTest, Policies);

TYPED_TEST(ChainTest, PacketsLeaveInOrderWhereverASendStops) {
  const std::string all = "onetwothree";
  for (std::size_t sent = 0; sent <= all.size(); ++sent) {
    typename TypeParam::Chain chain;
    for (const char* text : {"one", "two", "three"}) chain.append(this->bytes(text));
    chain.consume(sent);
    EXPECT_EQ(this->waiting(chain), all.substr(sent));
    EXPECT_EQ(chain.bytes(), all.size() - sent);
    EXPECT_EQ(chain.is_empty(), sent == all.size());
  }
}

TYPED_TEST(ChainTest, AThousandPacketsAreTheSameByteByByte) {
  typename TypeParam::Chain chain;
  std::string expected;
  std::string seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = std::to_string(i);
    expected += text;
    chain.append(this->bytes(text));
    seen += this->waiting(chain, 1).front();
    chain.consume(1);
  }
  while (!chain.is_empty()) {
    seen += this->waiting(chain, 1).front();
    chain.consume(1);
  }
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(chain.bytes(), 0u);
}

TYPED_TEST(ChainTest, APacketInTwoQueuesEndsWithTheLast) {
  auto shared = this->bytes("all");
  typename TypeParam::Chain first;
  first.append(shared);
  {
    typename TypeParam::Chain second;
    second.append(shared);
    shared.reset();
    EXPECT_EQ(this->waiting(second), "all");
    second.clear();
  }
  EXPECT_EQ(this->waiting(first), "all");
}

template <typename Memory>
class HandlesTest : public testing::Test {
 protected:
  Memory memory_;
  typename Memory::Thread thread_{memory_, "test"};
  typename Memory::template Handles<std::string> handles_{thread_, "texts"};
};
TYPED_TEST_SUITE(HandlesTest, Policies);

TYPED_TEST(HandlesTest, AReferenceKnowsThatItsObjectHasEndedAlsoWhenAnotherTookItsPlace) {
  const auto first = this->handles_.create("first");
  const auto second = this->handles_.create("second");
  this->handles_.destroy(first);
  const auto third = this->handles_.create("third");
  EXPECT_EQ(this->handles_.get(first), nullptr);
  EXPECT_EQ(*this->handles_.get(second), "second");
  EXPECT_EQ(*this->handles_.get(third), "third");
  EXPECT_EQ(this->handles_.get({}), nullptr);
  this->handles_.destroy(first);  // does nothing
  EXPECT_EQ(this->handles_.live_count(), 2u);
}

TYPED_TEST(HandlesTest, AWalkVisitsWhatIsLiveAndMayDestroyIt) {
  for (int i = 0; i < 100; ++i) static_cast<void>(this->handles_.create(std::to_string(i)));
  int visited = 0;
  this->handles_.for_each_live([&](auto ref, const std::string& text) {
    ++visited;
    if (text.size() == 1) this->handles_.destroy(ref);
  });
  EXPECT_EQ(visited, 100);
  EXPECT_EQ(this->handles_.live_count(), 90u);
}

template <typename T>
using StdVector = std::vector<T>;
using Numbers = Mailbox<int, StdVector>;

TEST(Mailbox, ABatchIsTakenOverAndHasRoomUpToItsBound) {
  Numbers mailbox(4);
  std::vector<int> batch = {1, 2, 3};
  EXPECT_TRUE(mailbox.has_room(4));
  mailbox.deliver(batch);
  EXPECT_TRUE(batch.empty());
  EXPECT_TRUE(mailbox.has_room());
  EXPECT_FALSE(mailbox.has_room(2));
  batch = {4};
  mailbox.deliver(batch);
  EXPECT_FALSE(mailbox.has_room());
  mailbox.take(batch);
  EXPECT_EQ(batch, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(mailbox.has_room(4));
}

TEST(Mailbox, WhatOneThreadDeliversAnotherTakesInOrder) {
  constexpr int kMessages = 20'000;
  Numbers mailbox(64);
  std::thread writer([&] {
    std::vector<int> batch;
    for (int i = 0; i < kMessages; ++i) {
      batch.push_back(i);
      while (!mailbox.has_room(batch.size())) std::this_thread::yield();
      mailbox.deliver(batch);
    }
  });
  std::vector<int> taken;
  std::vector<int> batch;
  while (taken.size() < kMessages) {
    mailbox.take(batch);
    EXPECT_LE(batch.size(), 64u);
    taken.insert(taken.end(), batch.begin(), batch.end());
    batch.clear();
    std::this_thread::yield();
  }
  writer.join();
  for (int i = 0; i < kMessages; ++i) ASSERT_EQ(taken[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace game
