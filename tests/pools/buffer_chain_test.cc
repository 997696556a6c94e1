// BufferChain: the bytes of its buffers in order, through a socket, in parts, and against a string as model.
#include "tarn/buffer_chain.h"

#include <sys/socket.h>

#include "fault/fault_injection.h"
#include "pool/buffers/buffer_pool_state.h"
#include "support/buffers.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "tarn/buffer_pool.h"
#include "tarn/heap.h"

namespace tarn::test {
namespace {

SharedBuffer buffer_of(BufferPool& pool, const std::string& text) {
  SharedBuffer buffer = pool.allocate_shared(text.size());
  std::memcpy(buffer.data(), text.data(), text.size());
  return buffer;
}

std::string text_of(const BufferChain& chain) {
  std::string text(chain.bytes(), '\0');
  EXPECT_EQ(chain.copy_to(text.data(), text.size()), text.size());
  return text;
}

TEST(BufferChain, AppendsBytesIntoRoomThatNoOtherHandleHas) {
  BufferPool pool({.largest_bytes = 1024});
  BufferChain chain;
  std::string expected;
  for (const int bytes : {10, 1000, 1, 200, 5000, 3}) {
    const std::string text(static_cast<std::size_t>(bytes), static_cast<char>('a' + bytes % 26));
    chain.append(pool, text.data(), text.size(), 512);
    expected += text;
    EXPECT_EQ(text_of(chain), expected);
  }
  chain.append(pool, nullptr, 0);
  EXPECT_EQ(chain.bytes(), expected.size());
  EXPECT_LE(chain.count(), 6u);

  BufferChain shared;
  shared.append(pool, "abc", 3, 100);
  const SharedBuffer first = shared[0];
  shared.append(pool, "def", 3);
  EXPECT_EQ(shared.count(), 2u) << "another handle may be extended";
  shared.append(pool, "g", 1);
  EXPECT_EQ(std::string(first.begin(), first.end()), "abc");
  EXPECT_EQ(text_of(shared), "abcdefg");
}

TEST(BufferChain, AppendsWhatFitsWhenThePoolRefusesTheRest) {
  BufferPool pool(
      {.smallest_bytes = 64, .largest_bytes = 64, .largest_count = 1, .above = AboveLargest::kRefuse});
  BufferChain chain;
  chain.append(pool, "abc", 3);
  EXPECT_THROW(chain.append(pool, std::string(64, 'd').data(), 64), std::bad_alloc);
  EXPECT_EQ(text_of(chain).substr(0, 3), "abc");
  EXPECT_EQ(chain.count(), 1u);
}

TEST(BufferChain, IsTheBytesOfItsBuffersInOrder) {
  BufferPool pool;
  BufferChain chain;
  EXPECT_TRUE(chain.is_empty());
  std::string expected;
  for (int i = 0; i < 20; ++i) {
    const std::string text = std::to_string(i * 12345);
    chain.append(buffer_of(pool, text));
    expected += text;
    EXPECT_EQ(chain.count(), static_cast<std::size_t>(i) + 1);
    EXPECT_EQ(text_of(chain), expected);
  }
  EXPECT_EQ(std::string(chain[3].data(), chain[3].size()), "37035");
  EXPECT_EQ(chain[3].reference_count(), 2u) << "the chain's and this one";
  chain.append(pool.allocate_shared(0));
  chain.append(SharedBuffer());
  EXPECT_EQ(chain.count(), 20u) << "no buffer of a chain is empty";
  char start[7];
  EXPECT_EQ(chain.copy_to(start, sizeof start), sizeof start);
  EXPECT_EQ(std::string(start, sizeof start), expected.substr(0, sizeof start));
  chain.clear();
  chain.clear();
  EXPECT_EQ(chain.bytes() + chain.count() + live_count(pool), 0u);
  chain.append(buffer_of(pool, "again"));
  EXPECT_EQ(text_of(chain), "again");
}

TEST(BufferChain, OneBufferMayBeInManyAndTwiceInOne) {
  BufferPool pool;
  SharedBuffer news = buffer_of(pool, "news ");
  std::vector<BufferChain> chains(100);
  for (BufferChain& chain : chains) {
    chain.append(news);
    chain.append(buffer_of(pool, "for you "));
    chain.append(news.slice(0, 4));
  }
  EXPECT_EQ(news.reference_count(), 201u);
  news.reset();
  for (BufferChain& chain : chains) EXPECT_EQ(text_of(chain), "news for you news");
  chains.clear();
  EXPECT_EQ(live_count(pool), 0u);
}

TEST(BufferChain, FillsAnArrayForTheSystem) {
  BufferPool pool;
  BufferChain chain;
  for (const char* text : {"a", "bc", "def", "ghij", "klmno", "pqrstu"}) chain.append(buffer_of(pool, text));
  chain.consume(2);
  iovec entries[8] = {};
  EXPECT_EQ(chain.fill_iovecs(entries, 0), 0u);
  EXPECT_EQ(chain.fill_iovecs(entries, 2), 2u);
  EXPECT_EQ(entries[2].iov_base, nullptr) << "one more than there is room for was written";
  EXPECT_EQ(std::string(static_cast<char*>(entries[0].iov_base), entries[0].iov_len), "c");
  EXPECT_EQ(chain.fill_iovecs(entries, 8), 5u);
  EXPECT_EQ(entries[4].iov_len, 6u);
  EXPECT_EQ(entries[5].iov_base, nullptr);
}

TEST(BufferChain, GoesThroughASocketInParts) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  BufferPool pool;
  BufferChain out, in;
  std::string sent, received;
  for (int i = 0; i < 300; ++i) {
    const std::string text(static_cast<std::size_t>(1 + i * 13 % 4000), static_cast<char>('a' + i % 26));
    out.append(buffer_of(pool, text));
    sent += text;
  }
  while (received.size() < sent.size()) {
    iovec entries[16];
    msghdr message{};
    message.msg_iov = entries;
    message.msg_iovlen = out.fill_iovecs(entries, 16);
    if (const ssize_t written = out.is_empty() ? 0 : sendmsg(ends[0], &message, 0); written > 0)
      out.consume(static_cast<std::size_t>(written));
    for (int i = 0; i < 3; ++i) in.append(pool.allocate_shared(2048));
    const std::size_t count = in.fill_iovecs(entries, 16);
    const ssize_t got = readv(ends[1], entries, static_cast<int>(count));
    ASSERT_GT(got, 0);
    received += text_of(in.split(static_cast<std::size_t>(got)));
    in.clear();
  }
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(out.is_empty());
  EXPECT_EQ(live_count(pool), 0u);
  close(ends[0]);
  close(ends[1]);
}

TEST(BufferChain, ConsumesAndSplitsAtEveryByte) {
  BufferPool pool;
  const std::string all = "one two three four five six";
  for (std::size_t at = 0; at <= all.size(); ++at)
    for (const std::size_t piece : {1u, 4u, 27u}) {
      BufferChain chain;
      for (std::size_t i = 0; i < all.size(); i += piece) chain.append(buffer_of(pool, all.substr(i, piece)));
      BufferChain front = chain.split(at);
      EXPECT_EQ(text_of(front), all.substr(0, at));
      EXPECT_EQ(text_of(chain), all.substr(at));
      front.append(std::move(chain));
      EXPECT_EQ(chain.bytes() + chain.count(), 0u);
      EXPECT_EQ(text_of(front), all);
      front.consume(at);
      EXPECT_EQ(text_of(front), all.substr(at));
    }
  EXPECT_EQ(live_count(pool), 0u);
}

TEST(BufferChain, MovesWithFewAndWithManyBuffers) {
  BufferPool pool;
  for (const std::size_t count : {0u, 1u, 4u, 5u, 40u}) {
    BufferChain chain, other;
    for (std::size_t i = 0; i < count + 2; ++i) chain.append(buffer_of(pool, "0123456789"));
    chain.consume(20);  // the first lies in the middle of the list
    other.append(buffer_of(pool, "old"));
    other = std::move(chain);
    EXPECT_EQ(other.bytes(), count * 10);
    EXPECT_EQ(chain.bytes() + chain.count(), 0u);
    chain.append(buffer_of(pool, "new"));
    BufferChain& same = other;
    other = std::move(same);
    other.append(std::move(same));
    const BufferChain last(std::move(other));
    EXPECT_EQ(last.bytes(), count * 10);
    EXPECT_EQ(last.count(), count);
    EXPECT_EQ(text_of(chain), "new");
  }
  EXPECT_EQ(live_count(pool), 0u);
}

// While it exists, the general pool has no block for the list of a chain of five to eight buffers.
class NoMemoryForALongerList {
 public:
  NoMemoryForALongerList() {
    while (void* const block = tarn::allocate(8 * (sizeof(detail::BufferHandle) + sizeof(std::uint64_t))))
      first_ = new (block) Block{first_};
  }
  ~NoMemoryForALongerList() {
    while (Block* const block = first_) {
      first_ = block->next;
      tarn::deallocate(block);
    }
  }

 private:
  struct Block {
    Block* next;
  };
  const FaultInjection refused_{FaultInjection::kAllKinds, 0, FaultInjection::Extent::kAllFromThere};
  Block* first_ = nullptr;
};

TEST(BufferChain, StaysAsItIsWhenMemoryForTheListIsRefused) {
  BufferPool pool;
  BufferChain chain, more;
  for (int i = 0; i < 4; ++i) chain.append(buffer_of(pool, "abc"));
  more.append(buffer_of(pool, "d"));
  SharedBuffer buffer = buffer_of(pool, "e");
  {
    const NoMemoryForALongerList nothing;
    EXPECT_FALSE(chain.try_append(buffer));
    EXPECT_THROW(chain.append(buffer), std::bad_alloc);
    EXPECT_THROW(chain.append(std::move(more)), std::bad_alloc);
  }
  EXPECT_TRUE(buffer);
  EXPECT_EQ(buffer.reference_count(), 1u);
  EXPECT_EQ(text_of(chain), "abcabcabcabc");
  EXPECT_EQ(text_of(more), "d");
  EXPECT_TRUE(chain.try_append(buffer));
  EXPECT_FALSE(buffer);
  {
    const NoMemoryForALongerList nothing;
    EXPECT_THROW(static_cast<void>(chain.split(13)), std::bad_alloc);
    EXPECT_EQ(text_of(chain.split(12)), "abcabcabcabc") << "four need no memory";
  }
  EXPECT_EQ(text_of(chain), "e");
}

TEST(BufferChain, OutlivesTheHeapInWhoseScopeItGrew) {
  BufferPool pool;
  BufferChain chain;
  {
    Heap heap;
    const HeapScope scope(heap);
    for (int i = 0; i < 20; ++i) chain.append(buffer_of(pool, "ab"));
    EXPECT_EQ(heap.use().peak_live_bytes, 0u);
  }
  EXPECT_EQ(chain.count(), 20u);
  EXPECT_EQ(text_of(chain.split(6)), "ababab");
}

// Random operations on several chains, against strings.
class ChainModel {
 public:
  explicit ChainModel(std::uint64_t seed) : random_(seed) {}

  void run(std::uint64_t operations) {
    while (operations-- > 0 && !::testing::Test::HasFailure()) {
      step(random_.below(kChains), random_.below(kChains));
      if (operations % 64 == 0) check();
    }
    check();
    for (BufferChain& chain : chains_) chain.clear();
    kept_.clear();
    EXPECT_EQ(live_count(pool_), 0u);
    internal::validate(detail::BufferPoolAccess::state(pool_));
  }

 private:
  static constexpr std::size_t kChains = 5, kMostBytes = 200000;

  SharedBuffer fresh() {
    SharedBuffer buffer = pool_.allocate_shared(random_.below(random_.below(20) == 0 ? 40000 : 500));
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer.data()[i] = static_cast<char>(random_.next());
    return buffer;
  }
  void append(std::size_t at, SharedBuffer buffer) {
    texts_[at].append(buffer.data(), buffer.size());
    chains_[at].append(std::move(buffer));
  }
  void step(std::size_t at, std::size_t other) {
    BufferChain& chain = chains_[at];
    std::string& text = texts_[at];
    if (text.size() > kMostBytes) return consume(at, text.size());
    switch (random_.below(8)) {
      case 0:
        return consume(at, random_.below(text.size() + 1));
      case 1: {
        if (other == at) return;
        const std::size_t bytes = random_.below(text.size() + 1);
        chains_[other] = chain.split(bytes);
        texts_[other] = text.substr(0, bytes);
        text.erase(0, bytes);
        return;
      }
      case 2: {
        if (other == at) return;
        chain.append(std::move(chains_[other]));
        text += std::exchange(texts_[other], {});
        return;
      }
      case 3: {
        if (kept_.size() < 50) kept_.push_back(fresh());
        SharedBuffer& buffer = kept_[random_.below(kept_.size())];
        if (random_.below(4) == 0) std::swap(buffer, kept_.back()), kept_.pop_back();
        if (kept_.empty()) return;
        const SharedBuffer& some = kept_[random_.below(kept_.size())];
        const std::size_t first = random_.below(some.size() + 1);
        return append(at, some.slice(first, random_.below(some.size() - first + 1)));
      }
      default:
        return append(at, fresh());
    }
  }
  void consume(std::size_t at, std::size_t bytes) {
    chains_[at].consume(bytes);
    texts_[at].erase(0, bytes);
  }
  void check() {
    for (std::size_t i = 0; i < kChains; ++i) {
      ASSERT_EQ(chains_[i].bytes(), texts_[i].size());
      ASSERT_TRUE(text_of(chains_[i]) == texts_[i]);
    }
  }

  BufferPool pool_;
  Random random_;
  std::vector<SharedBuffer> kept_;
  std::string texts_[kChains];
  BufferChain chains_[kChains];
};

TEST(BufferChain, ProgramsAgreeWithStrings) {
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}, fresh_seed()})
    ChainModel(seed).run(amount(4000, 200000));
}

}  // namespace
}  // namespace tarn::test
