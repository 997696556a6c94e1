// The process's heap, which is the low fragmentation heap of source 001 where Windows turns that on, and
// _aligned_malloc, which source 000's article compares with.
#include <malloc.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "malloc_as_pools.h"

namespace tarn::bench {
namespace {

struct ProcessHeap {
  static void* allocate(std::size_t bytes) { return HeapAlloc(GetProcessHeap(), 0, bytes); }
  static void deallocate(void* block, std::size_t) { free(block); }
  static void free(void* block) { HeapFree(GetProcessHeap(), 0, block); }
  static void* reallocate(void* block, std::size_t bytes) {
    return block == nullptr ? allocate(bytes) : HeapReAlloc(GetProcessHeap(), 0, block, bytes);
  }
  static std::size_t usable_bytes(void* block) { return HeapSize(GetProcessHeap(), 0, block); }
  static void* memory_of(void* block) { return block; }
};

/// The rows of the sources alone: nothing tells how much a block of it holds.
struct AlignedMalloc {
  static constexpr std::size_t kAlignment = 16;
  static void* allocate(std::size_t bytes) { return _aligned_malloc(bytes, kAlignment); }
  static void deallocate(void* block, std::size_t) { _aligned_free(block); }
  static void* reallocate(void* block, std::size_t bytes) {
    return _aligned_realloc(block, bytes, kAlignment);
  }
  static void* memory_of(void* block) { return block; }
};
template <std::size_t Bytes>
using AlignedBlocks = MallocAsPools<AlignedMalloc>::Pool<Bytes>;

const WholeMalloc<ProcessHeap> process_heap("process-heap", Kind::kInline, "HeapAlloc");
const Contestant aligned_malloc("aligned-malloc", Kind::kInline, Sharing::kAnyThread, "_aligned_malloc",
                                {source_000::run<AlignedMalloc>, source_001::run<AlignedMalloc>,
                                 source_003::run_fixed<AlignedBlocks>,
                                 source_004::run_all_batches<AlignedBlocks>,
                                 source_004::run_single_calls<AlignedBlocks>});

}  // namespace
}  // namespace tarn::bench
