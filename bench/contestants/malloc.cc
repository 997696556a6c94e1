// malloc and free, operator new and delete: glibc's, or those of a preloaded allocator. Sized delete where
// the size is known. Sources 003 and 004 compare with new, the others' workloads call malloc.
#include <new>

#include "malloc_api.h"
#include "malloc_as_pools.h"

namespace tarn::bench {
namespace {

struct NewDelete {
  static void* allocate(std::size_t bytes) { return ::operator new(bytes); }
  static void deallocate(void* block, std::size_t bytes) { ::operator delete(block, bytes); }
};

const WholeMalloc<Malloc, NewDelete> general("malloc", Kind::kMalloc, "");

}  // namespace
}  // namespace tarn::bench
