// A program with a secret in a live block of each kind of sensitive pool, and another in plain ones, for
// sensitive_core.py: prints both, inverted, and waits to be dumped.
#include <cstdlib>
#include <iostream>
#include <string>

#include "support/secret.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"
#include "tarn/sensitive.h"

namespace {

struct Key {
  unsigned char bytes[96];
};

}  // namespace

int main() {
  const tarn::test::Secret secret(1), plain(2);
  tarn::FixedPool fixed({.block_bytes = 96, .sensitive = true}), plain_fixed(96);
  tarn::ObjectPool<Key> objects({.sensitive = true});
  tarn::HandlePool<Key> handles({.sensitive = true});
  tarn::BufferPool buffers({.sensitive = true});
  tarn::Heap heap({.sensitive = true}), plain_heap;
  tarn::Arena arena({.sensitive = true}), plain_arena;
  for (void* block :
       {fixed.allocate(), static_cast<void*>(objects.create()),
        static_cast<void*>(handles.get(handles.create())), buffers.allocate(96), buffers.allocate(100'000),
        heap.allocate(96), heap.allocate(5'000'000), arena.allocate(96), tarn::allocate_sensitive(96)})
    secret.write(block, 96);
  for (void* block : {plain_fixed.allocate(), plain_heap.allocate(96), plain_arena.allocate(96),
                      tarn::allocate(96), tarn::allocate(5'000'000)})
    plain.write(block, 96);
  std::cout << secret.inverted() << ' ' << plain.inverted() << std::endl;
  std::string line;
  std::getline(std::cin, line);
  std::abort();
}
