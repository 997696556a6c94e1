// snmalloc from its headers, inlined; malloc stays glibc's.
#include <snmalloc/snmalloc.h>

#include "malloc_as_pools.h"

namespace tarn::bench {
namespace {

struct Snmalloc {
  static void* allocate(std::size_t bytes) { return snmalloc::libc::malloc(bytes); }
  static void deallocate(void* block, std::size_t bytes) { snmalloc::libc::free_sized(block, bytes); }
  static void free(void* block) { snmalloc::libc::free(block); }
  static void* reallocate(void* block, std::size_t bytes) { return snmalloc::libc::realloc(block, bytes); }
  static std::size_t usable_bytes(void* block) { return snmalloc::libc::malloc_usable_size(block); }
  static void* memory_of(void* block) { return block; }
};

const WholeMalloc<Snmalloc> general("snmalloc-inline", Kind::kInline, TARN_PEER_VERSION);

}  // namespace
}  // namespace tarn::bench
