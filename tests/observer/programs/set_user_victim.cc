// A set-user program, at fixed addresses, that tells at the end of its input whether anybody has written to
// its page: what a hostile process becomes while a tool watches it.
#include <unistd.h>

#include <cstdio>

namespace {

constexpr long kOwn = 0x4141414141414141;
constexpr int kWords = 4096 / sizeof(long);
alignas(4096) volatile long page[kWords];

bool is_untouched() {
  for (const volatile long& word : page)
    if (word != kOwn) return false;
  return true;
}

}  // namespace

int main(int count, char**) {
  if (count > 1) return std::printf("%p\n", const_cast<const void*>(static_cast<volatile void*>(page))), 0;
  for (volatile long& word : page) word = kOwn;
  std::printf("runs as %d\n", static_cast<int>(geteuid()));
  std::fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  std::puts(is_untouched() ? "untouched" : "written");
  return 0;
}
