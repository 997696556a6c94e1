// Random numbers that a failed test can be run with again.
#pragma once
#include <cstdint>

namespace tarn::test {

/// splitmix64: small, fast, equal on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  std::uint64_t between(std::uint64_t least, std::uint64_t largest) {
    return least + below(largest - least + 1);
  }

 private:
  std::uint64_t state_;
};

/// A seed nobody has tried: TARN_TEST_SEED where it is set, else from the clock. Printed, so that it can be
/// repeated.
std::uint64_t fresh_seed();

/// Whether TARN_LONG_TESTS=1 asks for the full work.
bool long_tests();

/// `normal` in a usual run, a twentieth of it under a sanitizer, else one in TARN_TEST_PART where that is set
/// (at least 1), `when_long` in a long one.
std::uint64_t amount(std::uint64_t normal, std::uint64_t when_long);

}  // namespace tarn::test
