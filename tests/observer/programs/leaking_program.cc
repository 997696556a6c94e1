// A program with planted leaks, for tests that look into it from outside: prints its pid, then waits until
// its input ends.
//
// What is planted, with --leak: kQuests quests with a long string each; kCircles pairs that point at each
// other; kChains chains of three, of which two are kept by a lost one; and as many of everything that is not
// lost: held by a vector, a shared_ptr, the inside of a block, a circle that is held, a tagged pointer.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/librarys_word.h"
#include "waits.h"

namespace {

constexpr int kQuests = 1000, kCircles = 100, kChains = 100, kKept = 5000;

class Quest {
 public:
  explicit Quest(int number) : number_(number), text_("a quest whose text lies in a block of its own: ") {
    text_ += std::to_string(number);
  }
  virtual ~Quest() = default;
  int number() const { return number_; }

 private:
  int number_;
  std::string text_;
};

struct Link {
  explicit Link(Link* to) : next(to) {}
  virtual ~Link() = default;
  Link* next;
  char payload[64] = {};
};

struct Twin : Link {
  Twin() : Link(nullptr) {}
};

struct Monster {
  explicit Monster(int count) : strength(count) {}
  virtual ~Monster() = default;
  int strength;
};

std::vector<std::unique_ptr<Quest>> held_quests;
std::vector<std::shared_ptr<Monster>> monsters;
std::vector<char*> insides;
std::vector<std::uintptr_t> tagged;
Link* held_circle = nullptr;

[[gnu::noinline]] void keep() {
  for (int i = 0; i < kKept; ++i) {
    held_quests.push_back(std::make_unique<Quest>(i));
    monsters.push_back(std::make_shared<Monster>(i));
    insides.push_back(new char[200] + 100);
    tagged.push_back(reinterpret_cast<std::uintptr_t>(new Monster(i)) | std::uintptr_t{0xfff1} << 48 | 1);
  }
  held_circle = new Twin;
  for (Link* last = held_circle; last->next == nullptr;) {
    last->next = new Twin;
    last->next->next = held_circle;
  }
}

/// \why the compiler removes a block that nothing sees
void forget(const void* object) { asm volatile("" : : "r"(object) : "memory"); }

[[gnu::noinline]] void lose() {
  for (int i = 0; i < kQuests; ++i) forget(new Quest(i));
  for (int i = 0; i < kCircles; ++i) {
    auto* const a = new Twin;
    a->next = new Twin;
    a->next->next = a;
    forget(a);
  }
  for (int i = 0; i < kChains; ++i) forget(new Link(new Link(new Link(nullptr))));
}

}  // namespace

int main(int argc, char** argv) {
  keep();
  if (argc > 1 && std::strcmp(argv[1], "--leak") == 0) lose();
  if (argc > 1 && std::strcmp(argv[1], "--to-library") == 0) *tarn::test::librarys_word() = new Quest(1);
  return tell_and_wait();
}
