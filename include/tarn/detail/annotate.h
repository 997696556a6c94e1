// Tells memory checkers what the pools hand out, so that a use after free inside a pool is reported like any other.
// AddressSanitizer: on wherever a program is compiled with it. Valgrind's memcheck: on where TARN_VALGRIND is defined
// before the first include (Debian's package valgrind has the header); requests cost about ten instructions otherwise
// and nothing when the macro is absent. Define it for all of a program's files or for none.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TARN_ANNOTATE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TARN_ANNOTATE_ASAN 1
#endif
#endif

#if defined(TARN_ANNOTATE_ASAN)
#include <sanitizer/asan_interface.h>
#endif
#if defined(TARN_VALGRIND)
#include <valgrind/memcheck.h>
#endif

namespace tarn::detail {

#if defined(TARN_ANNOTATE_ASAN)
inline constexpr bool kPoisonsFreeBlocks = true;
#else
inline constexpr bool kPoisonsFreeBlocks = false;
#endif

/// A pool begins. `pool` is its name for the checker, any address that is its own.
inline void annotate_pool([[maybe_unused]] const void* pool) {
#if defined(TARN_VALGRIND)
  VALGRIND_CREATE_MEMPOOL_EXT(pool, 0, 0, VALGRIND_MEMPOOL_METAPOOL);
#endif
}

inline void annotate_pool_end([[maybe_unused]] const void* pool) {
#if defined(TARN_VALGRIND)
  VALGRIND_DESTROY_MEMPOOL(pool);
#endif
}

/// All blocks of the pool end at once.
inline void annotate_pool_clear([[maybe_unused]] const void* pool) {
#if defined(TARN_VALGRIND)
  VALGRIND_DESTROY_MEMPOOL(pool);
  VALGRIND_CREATE_MEMPOOL_EXT(pool, 0, 0, VALGRIND_MEMPOOL_METAPOOL);
#endif
}

inline void annotate_allocation([[maybe_unused]] const void* pool, [[maybe_unused]] void* block,
                                [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_unpoison_memory_region(block, bytes);
#endif
#if defined(TARN_VALGRIND)
  VALGRIND_MEMPOOL_ALLOC(pool, block, bytes);
#endif
}

/// \pre the block is not another thread's yet.
inline void annotate_deallocation([[maybe_unused]] const void* pool, [[maybe_unused]] void* block,
                                  [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_poison_memory_region(block, bytes);
#endif
#if defined(TARN_VALGRIND)
  VALGRIND_MEMPOOL_FREE(pool, block);
#endif
}

}  // namespace tarn::detail
