// mimalloc by its own names, in a program of its own: its library also replaces malloc.
#include <mimalloc.h>

#include "malloc_as_pools.h"

namespace tarn::bench {
namespace {

struct Mimalloc {
  static void* allocate(std::size_t bytes) { return mi_malloc(bytes); }
  static void deallocate(void* block, std::size_t bytes) { mi_free_size(block, bytes); }
  static void free(void* block) { mi_free(block); }
  static void* reallocate(void* block, std::size_t bytes) { return mi_realloc(block, bytes); }
  static std::size_t usable_bytes(void* block) { return mi_usable_size(block); }
  static void* memory_of(void* block) { return block; }
};

const WholeMalloc<Mimalloc> general("mimalloc-inline", Kind::kInline, TARN_PEER_VERSION);

}  // namespace
}  // namespace tarn::bench
