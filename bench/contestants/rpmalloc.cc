// rpmalloc, compiled with -O2 and linked in; malloc stays glibc's. Its calls go into another file, as its
// users have them.
#include <rpmalloc.h>

#include "malloc_as_pools.h"

namespace tarn::bench {
namespace {

struct Rpmalloc {
  static void* allocate(std::size_t bytes) { return rpmalloc(bytes); }
  static void deallocate(void* block, std::size_t) { rpfree(block); }
  static void free(void* block) { rpfree(block); }
  static void* reallocate(void* block, std::size_t bytes) { return rprealloc(block, bytes); }
  static std::size_t usable_bytes(void* block) { return rpmalloc_usable_size(block); }
  static void* memory_of(void* block) { return block; }
};

const WholeMalloc<Rpmalloc> general("rpmalloc-inline", Kind::kInline, TARN_PEER_VERSION);

}  // namespace
}  // namespace tarn::bench
