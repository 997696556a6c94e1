// One suite over every pool. A pool is a stateless type with the functions of tarn::MemoryPool, or those of
// them it has; what else it does not offer is named in Traits.
#pragma once
#include "support/content.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/sizes.h"

#if !defined(TARN_TEST_MALLOC)
#include "conformance/c_api.h"
#include "conformance/pools.h"
#endif

namespace tarn::test {

#if defined(TARN_TEST_MALLOC)
using Pools = ::testing::Types<Malloc>;
using ReallocatingPools = Pools;
using ZeroingPools = Pools;
using SizedPools = Pools;

template <typename Pool>
struct Traits {
  static constexpr std::size_t kLargest = SIZE_MAX, kLargestAlignment = SIZE_MAX;
  static constexpr bool kTellsSizes = true, kChecksRequests = true;
};
#else
// Sensitive pools fill their blocks with zeros, which takes ThreadSanitizer minutes and shows it nothing: the
// suite has one thread for the most part.
#ifdef __SANITIZE_THREAD__
#define TARN_AND_SENSITIVE(...)
#else
#define TARN_AND_SENSITIVE(...) , __VA_ARGS__
#endif
using Pools =
    ::testing::Types<MemoryPool, CApi, FixedBlocks, SharedFixedBlocks, TypedBlocks, HeapBlocks<LibraryPages>,
                     HeapBlocks<CallersBuffer>, ScopedBlocks<LibraryPages>, ScopedBlocks<CallersBuffer>,
                     ArenaBlocks<>, BufferBlocks<>, ResourceBlocks<GeneralSource>, ResourceBlocks<HeapSource>,
                     AllocatorBlocks<GeneralSource>, AllocatorBlocks<HeapSource>,
                     HandlerBlocks TARN_AND_SENSITIVE(
                         SensitiveFixedBlocks, SensitiveSharedBlocks, SensitiveTypedBlocks,
                         HeapBlocks<SensitivePages>, ScopedBlocks<SensitivePages>, SensitiveBlocks,
                         ArenaBlocks<Contents::kSensitive>, BufferBlocks<Contents::kSensitive>)>;
using ReallocatingPools =
    ::testing::Types<MemoryPool, CApi, FixedBlocks, SharedFixedBlocks, TypedBlocks, HeapBlocks<LibraryPages>,
                     HeapBlocks<CallersBuffer>, ScopedBlocks<LibraryPages>,
                     ScopedBlocks<CallersBuffer> TARN_AND_SENSITIVE(
                         SensitiveFixedBlocks, SensitiveTypedBlocks, HeapBlocks<SensitivePages>,
                         ScopedBlocks<SensitivePages>, SensitiveBlocks)>;
using ZeroingPools =
    ::testing::Types<MemoryPool, CApi, HeapBlocks<LibraryPages>, HeapBlocks<CallersBuffer>,
                     ScopedBlocks<LibraryPages> TARN_AND_SENSITIVE(HeapBlocks<SensitivePages>)>;
using SizedPools = ::testing::Types<MemoryPool, CApi>;
using BatchPools =
    ::testing::Types<MemoryPool, CApi, FixedBlocks, SharedFixedBlocks,
                     TypedBlocks TARN_AND_SENSITIVE(SensitiveFixedBlocks, SensitiveSharedBlocks)>;
#endif

template <typename Pool>
class Conformance : public ::testing::Test {};

/// Largest block the suite asks for in each size's turn, and where blocks of some sizes are asked for; a
/// sanitizer makes touching memory dear.
inline constexpr std::size_t kLargestTested = (kSanitizer ? 1 : 8) * kMiB;
inline constexpr std::size_t kLargestLandmark = kSanitizer ? 8 * kMiB : 64 * kMiB;

/// A size of the suite, or the pool's largest where that is less.
template <typename Pool>
constexpr std::size_t up_to(std::size_t bytes) {
  return std::min(bytes, Traits<Pool>::kLargest);
}

/// Bytes of a block that was asked for with `size`.
template <typename Pool>
std::size_t usable_bytes([[maybe_unused]] void* block, [[maybe_unused]] std::size_t size) {
  if constexpr (Traits<Pool>::kTellsSizes) {
    return Pool::usable_size(block);
  } else {
    return size;
  }
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
