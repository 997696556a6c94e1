// In place of the library heaptrack preloads: it counts.
#include <cstddef>

extern "C" {
std::size_t fake_allocated = 0, fake_freed = 0, fake_bytes = 0;
void heaptrack_malloc(void*, std::size_t bytes) {
  ++fake_allocated;
  fake_bytes += bytes;
}
void heaptrack_free(void*) { ++fake_freed; }
}
