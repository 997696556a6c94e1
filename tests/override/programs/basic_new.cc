// A program that has an operator new and an operator delete of its own, the basic ones alone, as Firefox ESR
// has: the standard says that all other forms come to them. The number in front of each block tells where the
// block came from.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::size_t kHeaderBytes = 16;
constexpr unsigned long kMark = 0x0b10c0000b10c000;
std::atomic<long> taken{0}, live{0};

}  // namespace

void* operator new(std::size_t size) {
  char* const block = static_cast<char*>(std::malloc(size + kHeaderBytes));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<unsigned long*>(block) = kMark;
  ++taken, ++live;
  return block + kHeaderBytes;
}

void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  char* const start = static_cast<char*>(block) - kHeaderBytes;
  if (*reinterpret_cast<unsigned long*>(start) != kMark) {
    std::puts("a block that operator new of this program did not make");
    std::_Exit(1);
  }
  --live;
  std::free(start);
}

namespace {

// Says of one form how many blocks of the program's own it took and left. The compiler must not see that
// nobody reads them.
template <typename Form>
void show(const char* name, const Form& form) {
  const long taken_before = taken, live_before = live;
  form();
  std::printf("%s: %ld taken, %ld left\n", name, taken - taken_before, live - live_before);
}

template <typename Value>
Value* opaque(Value* value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

struct Large {
  char bytes[300000];
};

void show_forms() {
  show("one", [] { delete opaque(new int); });
  show("array", [] { delete[] opaque(new int[1000]); });
  show("without exceptions", [] { delete opaque(new (std::nothrow) Large); });
  show("array without exceptions", [] { delete[] opaque(new (std::nothrow) Large[2]); });
  show("sized", [] { ::operator delete (opaque(::operator new(100)), std::size_t{100}); });
  show("sized array", [] { ::operator delete[](opaque(::operator new[](100)), std::size_t{100}); });
  show("delete without exceptions", [] { ::operator delete(opaque(::operator new(100)), std::nothrow); });
  show("delete array without exceptions",
       [] { ::operator delete[](opaque(::operator new[](9)), std::nothrow); });
}

void use_containers() {
  std::map<std::string, std::vector<int>> map;
  std::unordered_map<int, std::unique_ptr<Large>> large;
  for (int i = 0; i < 3000; ++i)
    map[std::string(50, 'x') + std::to_string(i)].resize(static_cast<std::size_t>(i));
  for (int i = 0; i < 50; ++i) large.emplace(i, std::make_unique<Large>());
  std::ostringstream text;
  for (const auto& [key, values] : map) text << key << values.size();
  std::vector<int> numbers(100000);
  std::stable_sort(numbers.begin(), numbers.end());  // asks without exceptions for its buffer
  std::printf("%zu\n", text.str().size());
}

}  // namespace

int main() {
  show_forms();
  const long live_before = live;
  use_containers();
  std::thread(use_containers).join();
  try {
    delete[] opaque(new char[std::size_t{1} << 60]);
  } catch (const std::bad_alloc&) {
    std::puts("bad_alloc");
  }
  std::printf("left by containers: %ld\n", live - live_before);
  return 0;
}
