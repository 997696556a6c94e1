// Looks at a process and prints how many live blocks of 20,000 bytes it has and whether that is exact:
// look_at PID
#include <cstdio>
#include <cstdlib>

#include "observer/snapshot/snapshot.h"

int main(int count, char** arguments) try {
  if (count != 2) return std::fprintf(stderr, "usage: %s PID\n", arguments[0]), 2;
  const auto snapshot = tarn::observer::read_snapshot(*tarn::observer::open_process(std::atoi(arguments[1])));
  std::uint64_t live = 0;
  for (const tarn::observer::ClassUse& of_class : snapshot.classes)
    if (of_class.block_bytes >= 20'000 && of_class.block_bytes < 24'000) live += of_class.live;
  std::printf("%lu %s %s\n", static_cast<unsigned long>(live),
              snapshot.exactness.is_exact ? "exact" : "inexact", snapshot.library_version.c_str());
  return 0;
} catch (const tarn::observer::ObserveError& error) {
  std::printf("%s\n", error.what());
  return 1;
}
