// One suite over every pool. A pool is a stateless type with the functions of tarn::MemoryPool; what the
// system's malloc answers differently, or does not offer, is named in Traits.
#pragma once
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>

#include "support/content.h"
#include "support/pools.h"
#include "support/sanitizer.h"
#include "support/sizes.h"

#if !defined(TARN_TEST_MALLOC) && __has_include("tarn/tarn.h")
#include "conformance/c_api.h"
#define TARN_HAS_C_API 1
#endif

namespace tarn::test {

#if defined(TARN_TEST_MALLOC)
using Pools = ::testing::Types<Malloc>;
#elif defined(TARN_HAS_C_API)
using Pools = ::testing::Types<MemoryPool, CApi>;
#else
using Pools = ::testing::Types<MemoryPool>;
#endif

template <typename Pool>
class Conformance : public ::testing::Test {};

/// Largest block the suite asks for; a sanitizer makes touching memory dear.
inline constexpr std::size_t kLargestTested = kSanitizer ? 8 * kMiB : 64 * kMiB;

inline std::uintptr_t address(const void* block) { return reinterpret_cast<std::uintptr_t>(block); }

/// Hides a value from the compiler, which would warn of an impossible size, or fold the call away.
template <typename Value>
Value opaque(Value value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Frees a block at the end of the scope.
template <typename Pool>
class Block {
 public:
  explicit Block(void* block) : block_(block) {}
  ~Block() { Pool::deallocate(block_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* get() const { return block_; }

 private:
  void* block_;
};

}  // namespace tarn::test
