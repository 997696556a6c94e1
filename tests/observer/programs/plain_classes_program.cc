// A program whose classes were compiled without type_info: names come from its symbols.
#include <memory>
#include <vector>

#include "waits.h"

class Quest {
 public:
  virtual ~Quest() = default;
  int number = 0;
};

std::vector<std::unique_ptr<Quest>> quests;

int main() {
  for (int i = 0; i < 700; ++i) quests.push_back(std::make_unique<Quest>());
  return tell_and_wait();
}
