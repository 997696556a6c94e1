// In a build without NDEBUG: a buffer is freed twice in one batch.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"

int main() {
  tarn::BufferPool pool("packets");
  void* const one = pool.allocate(100);
  void* const other = pool.allocate(100);
  must_die_with("double free in 'packets'", one);
  void* const batch[] = {one, other, one};
  pool.deallocate_batch(batch, 3);
  abort();
}
