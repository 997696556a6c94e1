// A program that gdb stops and calls malloc in; a second thread allocates meanwhile.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

static void use(std::size_t size) {
  auto* const block = static_cast<char*>(std::malloc(size));
  block[0] = 1;
  std::free(block);
}

int main() {
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) use(100);
  });
  for (std::size_t size = 1; size < 200'000; size += 97) use(size);
  is_over = true;
  other.join();
  std::puts("ended");
}
