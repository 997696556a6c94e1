// Loses 1,000 quests from malloc and 500 packets of a fixed pool; keeps five names. Ends with the status that
// it is given: leaky STATUS.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tarn/fixed_pool.h"

namespace {

std::vector<std::string> names;
tarn::FixedPool* packets;

[[gnu::noinline]] void lose_quest() {
  void* const quest = std::malloc(72);
  asm volatile("" : : "r"(quest) : "memory");
}
[[gnu::noinline]] void lose_packet() {
  void* const packet = packets->allocate();
  asm volatile("" : : "r"(packet) : "memory");
}
[[gnu::noinline]] void clear_stack() {
  char bytes[8'192];
  std::memset(bytes, 0, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

}  // namespace

int main(int, char** words) {
  packets = new tarn::FixedPool(200);
  for (int i = 0; i < 1'000; ++i) lose_quest();
  for (int i = 0; i < 500; ++i) lose_packet();
  for (int i = 0; i < 5; ++i) names.push_back(std::string(100, 'x'));
  clear_stack();
  return std::atoi(words[1]);
}
