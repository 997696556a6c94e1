// In a build without NDEBUG: a block is freed by a fixed pool that does not have it.
#include "misuse/checks_frees.h"
//
#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"

int main() {
  tarn::FixedPool one({.block_bytes = 64, .name = "packets"}), other({.block_bytes = 64, .name = "events"});
  void* const block = other.allocate();
  must_die_with("free of a block of 'events' in 'packets'", block);
  one.deallocate(opaque(block));
  abort();
}
