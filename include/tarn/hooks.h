// Tells memory checkers and profilers what the pools hand out. Each is chosen by a macro, defined for all of a program's
// files or for none; without it the pools' code holds nothing of it.
//
// AddressSanitizer  on wherever a program is compiled with it: a use after free inside a pool is reported.
// TARN_VALGRIND     memcheck sees the pools' blocks (Debian's package valgrind has the header); a request costs about ten
//                   instructions in a program that runs without Valgrind.
// TARN_HEAPTRACK    heaptrack records the pools' blocks when the program runs under it; else a load and a compare.
// TARN_TRACY        Tracy shows them as the memory pool "tarn"; its client must be linked.
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
#if defined(TARN_TRACY)
#include <tracy/Tracy.hpp>
#endif
#if defined(TARN_HEAPTRACK)
#include <dlfcn.h>
#endif

namespace tarn::detail {

#if defined(TARN_ANNOTATE_ASAN)
inline constexpr bool kPoisonsFreeBlocks = true;
#else
inline constexpr bool kPoisonsFreeBlocks = false;
#endif

#if defined(TARN_HEAPTRACK)
/// The functions of the library that heaptrack preloads; nullptr where it does not. A program's own weak references would
/// be bound to nothing when it is linked, so they are looked up.
struct Heaptrack {
  void (*allocated)(void* block, std::size_t bytes);
  void (*freed)(void* block);
};
inline const Heaptrack& heaptrack() {
  static const Heaptrack calls{
      reinterpret_cast<void (*)(void*, std::size_t)>(dlsym(RTLD_DEFAULT, "heaptrack_malloc")),
      reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "heaptrack_free")),
  };
  return calls;
}
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

/// A block that does not end by itself but with all others: profilers are not told, they would call it lost.
inline void annotate_bump([[maybe_unused]] const void* pool, [[maybe_unused]] void* block,
                          [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_unpoison_memory_region(block, bytes);
#endif
#if defined(TARN_VALGRIND)
  VALGRIND_MEMPOOL_ALLOC(pool, block, bytes);
#endif
}

inline void annotate_allocation(const void* pool, void* block, std::size_t bytes) {
  annotate_bump(pool, block, bytes);
#if defined(TARN_HEAPTRACK)
  if (heaptrack().allocated != nullptr) heaptrack().allocated(block, bytes);
#endif
#if defined(TARN_TRACY)
  TracyAllocN(block, bytes, "tarn");
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
#if defined(TARN_HEAPTRACK)
  if (heaptrack().freed != nullptr) heaptrack().freed(block);
#endif
#if defined(TARN_TRACY)
  TracyFreeN(block, "tarn");
#endif
}

}  // namespace tarn::detail
