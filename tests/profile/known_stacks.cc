// A program whose calls are known. It prints where it is loaded, and the addresses that three calls return
// to: of a function that was inlined into build(), and of build() itself.
#include <cstdio>
#include <cstdlib>

namespace app {
namespace {

void* returned_to[2];

__attribute__((noinline)) void note(int which) { returned_to[which] = __builtin_return_address(0); }

struct Queue {
  __attribute__((always_inline)) inline void grow() {
    note(0);  // line: grow
    asm volatile("");
  }
};

}  // namespace

__attribute__((noinline)) int build(Queue& queue) {
  queue.grow();  // line: build
  note(1);
  asm volatile("");
  return 1;
}

}  // namespace app

int main() {
  app::Queue queue;
  const int built = app::build(queue);
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  if (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) std::printf("%s", line);
  std::printf("%p %p\n", app::returned_to[0], app::returned_to[1]);
  if (maps != nullptr) std::fclose(maps);
  return built - 1;
}
