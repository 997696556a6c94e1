// Each form of operator new takes its block from tarn, and each form of delete gives it back.
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "tarn/memory_pool.h"

namespace {

int faults = 0;

void expect(bool is_true, const char* what) {
  if (!is_true) std::printf("not so: %s\n", what), ++faults;
}

struct alignas(256) Wide {
  char bytes[256];
};

}  // namespace

int main() {
  int* const one = new int(1);
  char* const many = new char[1000];
  auto* const wide = new Wide;
  auto* const wides = new Wide[3];
  auto* const quiet = new (std::nothrow) int(2);
  for (void* const block : {static_cast<void*>(one), static_cast<void*>(many), static_cast<void*>(wide),
                            static_cast<void*>(wides), static_cast<void*>(quiet)})
    expect(tarn::usable_size(block) != 0, "a block of operator new is tarn's");
  expect(reinterpret_cast<std::size_t>(wide) % 256 == 0, "alignment is kept");
  delete one;
  delete[] many;
  delete wide;
  delete[] wides;
  delete quiet;
  const std::vector<std::string> strings(100, std::string(100, 'x'));
  expect(tarn::usable_size(strings.data()) != 0, "containers are served");
  bool has_thrown = false;
  try {
    static_cast<void>(::operator new(static_cast<std::size_t>(-1) / 2));
  } catch (const std::bad_alloc&) {
    has_thrown = true;
  }
  expect(has_thrown, "what is too large throws");
  return faults == 0 ? 0 : 1;
}
