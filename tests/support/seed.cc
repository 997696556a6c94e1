#include "support/seed.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/sanitizer.h"

namespace tarn::test {

std::uint64_t fresh_seed() {
  const char* const chosen = std::getenv("TARN_TEST_SEED");
  const std::uint64_t seed =
      chosen != nullptr
          ? std::strtoull(chosen, nullptr, 0)
          : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  std::printf("seed: TARN_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

bool long_tests() {
  const char* const value = std::getenv("TARN_LONG_TESTS");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

std::uint64_t amount(std::uint64_t normal, std::uint64_t when_long) {
  if (long_tests()) return when_long;
  const char* const part = std::getenv("TARN_TEST_PART");
  const std::uint64_t parts = part != nullptr ? std::strtoull(part, nullptr, 10) : 1;
  const std::uint64_t share = kSanitizer ? 20 : std::max<std::uint64_t>(parts, 1);
  return normal >= share ? normal / share : normal;
}

}  // namespace tarn::test
