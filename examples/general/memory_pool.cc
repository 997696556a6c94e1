// The general pool by its calls: blocks of any size, freed by any thread, with or without their size.
#include "tarn/memory_pool.h"

#include <cstdio>
#include <cstring>
#include <thread>

#include "tarn/version.h"

int main() {
  std::printf("tarn %s, %d\n", TARN_VERSION_STRING, TARN_VERSION);
  void* const line = tarn::allocate(100);  // nullptr when memory is refused
  void* const table = tarn::allocate(4096, 64);
  void* const zeros = tarn::allocate_zeroed(10, 8);
  if (line == nullptr || table == nullptr || zeros == nullptr) return 1;
  std::strcpy(static_cast<char*>(line), "kept when the block grows");
  void* const longer = tarn::reallocate(line, 1000);
  if (longer == nullptr) return 1;
  std::puts(static_cast<const char*>(longer));

  void* messages[32];
  const std::size_t count = tarn::allocate_batch(200, 32, messages);
  const bool is_roomy = tarn::usable_size(longer) >= 1000 && tarn::good_size(1000) >= 1000;

  std::thread([=] { tarn::deallocate(longer); }).join();
  tarn::deallocate_batch(messages, count);
  tarn::deallocate(table, 4096, 64);
  tarn::deallocate(zeros);
  std::printf("%zu bytes went back to the system\n", tarn::trim());
  return count == 32 && is_roomy ? 0 : 1;
}
