// Tells memory checkers and profilers which blocks the pools hand out. A macro enables each tool; define it
// for all files of a program or for none. Without the macro the pools contain no code for the tool.
//
// AddressSanitizer  on in every program compiled with it: reports a use after free inside a pool.
// TARN_VALGRIND     memcheck sees the pools' blocks (Debian's package valgrind has the header); outside of
//                   Valgrind a request costs about ten instructions.
// TARN_HEAPTRACK    heaptrack records the pools' blocks when the program runs under heaptrack; outside of it
//                   a request costs a load and a compare.
// TARN_TRACY        Tracy shows the blocks as the memory pool "tarn"; link the program with Tracy's client.
#pragma once
#include <cstddef>

#include "tarn/detail/api.h"

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

/// Whether a tool is told of each block.
#if defined(TARN_HEAPTRACK) || defined(TARN_TRACY)
inline constexpr bool kTellsTools = true;
#else
inline constexpr bool kTellsTools = kPoisonsFreeBlocks;
#endif

#if defined(TARN_HEAPTRACK)
/// The functions of the library that heaptrack preloads; nullptr without heaptrack. They are looked up at run
/// time, because the linker would bind weak references in the program to nothing.
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

/// Blocks that end together, not one by one: profilers are not told, they would report them as leaks.
inline void annotate_bump([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_unpoison_memory_region(block, bytes);
#endif
#if defined(TARN_VALGRIND)
  VALGRIND_MAKE_MEM_UNDEFINED(block, bytes);
#endif
}

/// A part of a live block that its user keeps for later; annotate_kept_no_more ends that.
inline void annotate_kept([[maybe_unused]] void* part, [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_poison_memory_region(part, bytes);
#endif
#if defined(TARN_VALGRIND)
  VALGRIND_MAKE_MEM_NOACCESS(part, bytes);
#endif
}

inline void annotate_kept_no_more([[maybe_unused]] void* block, [[maybe_unused]] std::size_t bytes) {
#if defined(TARN_ANNOTATE_ASAN)
  __asan_unpoison_memory_region(block, bytes);
#endif
#if defined(TARN_VALGRIND)
  // Not as undefined: the general pool may have the memory again, and does not tell memcheck.
  VALGRIND_MAKE_MEM_DEFINED(block, bytes);
#endif
}

/// Tells profilers only: the library tells the checkers.
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

/// Blocks side by side; they may be freed together or one by one.
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

/// \pre the blocks do not belong to another thread yet.
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
