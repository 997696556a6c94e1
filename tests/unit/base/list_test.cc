#include "base/list.h"

#include <deque>

#include "base/wipe.h"
#include "support/prelude.h"
#include "support/seed.h"

namespace tarn::internal {
namespace {

struct Node {
  Node* previous;
  Node* next;
};

void expect_same(const List<Node>& list, const std::deque<Node*>& model) {
  ASSERT_EQ(list.is_empty(), model.empty());
  const Node* before = nullptr;
  const Node* at = list.first();
  for (const Node* expected : model) {
    ASSERT_EQ(at, expected);
    ASSERT_EQ(at->previous, before);
    before = at;
    at = at->next;
  }
  ASSERT_EQ(at, nullptr);
  ASSERT_EQ(list.last(), before);
}

TEST(List, BehavesAsADequeUnderRandomOperations) {
  test::Random random(3);
  Node nodes[20];
  List<Node> list;
  std::deque<Node*> model, unlisted;
  for (Node& node : nodes) unlisted.push_back(&node);
  for (int i = 0; i < 5000; ++i) {
    const bool must_add = model.empty() || (!unlisted.empty() && random.below(2) == 0);
    if (must_add) {
      Node* const node = unlisted.front();
      unlisted.pop_front();
      if (random.below(2) == 0) {
        list.push_front(node);
        model.push_front(node);
      } else {
        list.push_back(node);
        model.push_back(node);
      }
    } else {
      const auto at = model.begin() + static_cast<std::ptrdiff_t>(random.below(model.size()));
      list.remove(*at);
      unlisted.push_back(*at);
      model.erase(at);
    }
    expect_same(list, model);
  }
}

TEST(List, RemovingTheOnlyNodeLeavesItEmpty) {
  Node node;
  List<Node> list;
  list.push_back(&node);
  list.remove(&node);
  EXPECT_TRUE(list.is_empty());
  EXPECT_EQ(list.last(), nullptr);
}

TEST(Wipe, OverwritesTheBytesAndNoOthers) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{4000}}) {
    unsigned char memory[4096];
    std::memset(memory, 0xa5, sizeof memory);
    wipe(memory + 3, bytes);
    EXPECT_EQ(std::count(memory, memory + sizeof memory, 0), static_cast<std::ptrdiff_t>(bytes));
    EXPECT_TRUE(std::all_of(memory + 3, memory + 3 + bytes, [](unsigned char byte) { return byte == 0; }));
  }
}

}  // namespace
}  // namespace tarn::internal
