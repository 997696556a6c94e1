// A program whose threads exchange blocks of all kinds: THREADS CALLS, or THREADS CALLS forever. Each block
// is written to, so that its pages are resident.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kSlots = 4096;
std::atomic<void*> slots[kSlots];

std::size_t write_to(void* block, std::size_t size) {
  std::memset(block, 1, size);
  return size;
}

void* some_block(unsigned number) {
  void* block = nullptr;
  std::size_t size = number % 500;
  switch (number % 8) {
    case 0:
      block = std::calloc(1, size);
      break;
    case 1:
      block = std::aligned_alloc(64, size = (number % 10 + 1) * 64);
      break;
    case 2:
      block = std::realloc(std::malloc(number % 100), size = number % 1000 + 1);
      break;
    case 3:
      block = std::malloc(size = number % 512 == 3 ? 300'000 : number % 2000);
      break;
    default:
      block = std::malloc(size);
  }
  write_to(block, size);
  return block;
}

void exchange(unsigned seed, long calls) {
  for (unsigned number = seed; calls > 0; --calls) {
    number = number * 1'664'525 + 1'013'904'223;
    std::free(slots[number >> 20].exchange(some_block(number >> 8)));
  }
}

}  // namespace

int main(int count, char** words) {
  const unsigned threads = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : 1;
  const long calls = count > 2 ? std::atol(words[2]) : 1000;
  std::puts("started");
  std::fflush(stdout);
  do {
    std::vector<std::thread> crew;
    for (unsigned i = 0; i < threads; ++i) crew.emplace_back(exchange, i * 7919 + 1, calls);
    for (std::thread& thread : crew) thread.join();
  } while (count > 3);
}
