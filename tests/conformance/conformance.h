// One suite over every pool.
#pragma once
#include "support/content.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/sizes.h"

namespace tarn::test {

/// A pool by its functions, those of tarn::MemoryPool: so the suite is compiled once, not once for each of
/// two dozen. A function that a pool by nature does not offer is nullptr.
struct Pool {
  const char* name;
  void* (*allocate)(std::size_t size);
  void* (*allocate_aligned)(std::size_t size, std::size_t alignment);
  void* (*allocate_zeroed)(std::size_t count, std::size_t size);
  void* (*reallocate)(void* block, std::size_t size);
  void (*deallocate)(void* block);
  void (*deallocate_sized)(void* block, std::size_t size);
  void (*deallocate_aligned)(void* block, std::size_t size, std::size_t alignment);
  std::size_t (*usable_size)(const void* block);
  std::size_t (*good_size)(std::size_t size);
  std::size_t (*allocate_batch)(std::size_t size, std::size_t count, void** blocks);
  void (*deallocate_batch)(void* const* blocks, std::size_t count);
  void (*trim)();
  std::size_t largest = SIZE_MAX, largest_alignment = SIZE_MAX;  // bytes
  bool checks_requests = true;  // with errno; else a refusal is a null pointer alone
};

/// All there are: of this library, or the malloc that the program runs on.
const std::vector<Pool>& pools();

/// \returns a generator of those that have a function.
template <typename Function>
auto pools_with(Function Pool::*function) {
  std::vector<Pool> those;
  for (const Pool& pool : pools())
    if (pool.*function != nullptr) those.push_back(pool);
  return ::testing::ValuesIn(those);
}

inline std::string name_of(const ::testing::TestParamInfo<Pool>& info) { return info.param.name; }

/// Largest block the suite asks for in each size's turn, and where blocks of some sizes are asked for; a
/// sanitizer makes touching memory dear.
inline constexpr std::size_t kLargestTested = (kSanitizer ? 1 : 8) * kMiB;
inline constexpr std::size_t kLargestLandmark = kSanitizer ? 8 * kMiB : 64 * kMiB;

class Conformance : public ::testing::TestWithParam<Pool> {
 protected:
  static const Pool& pool() { return GetParam(); }
  /// \returns a size of the suite, or the pool's largest where that is less.
  static std::size_t up_to(std::size_t bytes) { return std::min(bytes, pool().largest); }
  /// \returns bytes of a block that was asked for with `size`.
  static std::size_t usable_bytes(void* block, std::size_t size) {
    return pool().usable_size != nullptr ? pool().usable_size(block) : size;
  }
};

/// Frees a block at the end of the scope.
class Block {
 public:
  Block(const Pool& pool, void* block) : pool_(pool), block_(block) {}
  ~Block() { pool_.deallocate(block_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  void* get() const { return block_; }

 private:
  const Pool& pool_;
  void* const block_;
};

}  // namespace tarn::test
