// Tells memory checkers and profilers what the pools hand out. Each is chosen by a macro, defined for all of
// a program's files or for none; without it the pools' code holds nothing of it.
//
// AddressSanitizer  on wherever a program is compiled with it: a use after free inside a pool is reported.
// TARN_VALGRIND     memcheck sees the pools' blocks (Debian's package valgrind has the header); a request
//                   costs about ten instructions in a program that runs without Valgrind.
// TARN_HEAPTRACK    heaptrack records the pools' blocks when the program runs under it; else a load and a
//                   compare.
// TARN_TRACY        Tracy shows them as the memory pool "tarn"; its client must be linked.
#pragma once
#include <cstddef>

#include "tarn/detail/abi.h"

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

namespace TARN_NAMESPACE::detail {

#if defined(TARN_ANNOTATE_ASAN) || defined(TARN_VALGRIND)
inline constexpr bool kPoisonsFreeBlocks = true;
#else
inline constexpr bool kPoisonsFreeBlocks = false;
#endif

#if defined(TARN_HEAPTRACK)
/// The functions of the library that heaptrack preloads; nullptr where it does not. A program's own weak
/// references would be bound to nothing when it is linked, so they are looked up.
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

/// A block that does not end by itself but with all others: profilers are not told, they would call it lost.
inline void annotate_bump([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_unpoison_memory_region(block, bytes);
#endif
#if defined(TARN_VALGRIND)
  VALGRIND_MAKE_MEM_UNDEFINED(block, bytes);
#endif
}

/// For profilers alone: checkers are told by the library.
inline void profile_allocation([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_HEAPTRACK)
  if (heaptrack().allocated != nullptr) heaptrack().allocated(block, bytes);
#endif
#if defined(TARN_TRACY)
  TracyAllocN(block, bytes, "tarn");
#endif
}
inline void profile_deallocation([[maybe_unused]] void* block) {
#if defined(TARN_HEAPTRACK)
  if (heaptrack().freed != nullptr) heaptrack().freed(block);
#endif
#if defined(TARN_TRACY)
  TracyFreeN(block, "tarn");
#endif
}

/// Blocks side by side, which may go back together or one by one.
inline void annotate_allocation([[maybe_unused]] const void* pool, void* blocks, std::size_t stride,
                                std::size_t count = 1) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_unpoison_memory_region(blocks, count * stride);
#endif
#if defined(TARN_VALGRIND)
  for (std::size_t i = 0; i < count; ++i)
    VALGRIND_MEMPOOL_ALLOC(pool, static_cast<char*>(blocks) + i * stride, stride);
#endif
  profile_allocation(blocks, count * stride);
}

/// \pre the blocks are not another thread's yet.
inline void annotate_deallocation([[maybe_unused]] const void* pool, void* blocks,
                                  [[maybe_unused]] std::size_t stride,
                                  [[maybe_unused]] std::size_t count = 1) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_poison_memory_region(blocks, count * stride);
#endif
#if defined(TARN_VALGRIND)
  for (std::size_t i = 0; i < count; ++i)
    VALGRIND_MEMPOOL_FREE(pool, static_cast<char*>(blocks) + i * stride);
#endif
  profile_deallocation(blocks);
}

}  // namespace TARN_NAMESPACE::detail
