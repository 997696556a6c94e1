// Writes the metrics of a process with pools of every kind and of odd names, for metrics_grammar.py.
#include <unistd.h>

#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/metrics.h"
#include "tarn/object_pool.h"

int main() {
  tarn::Heap tenant({.name = "tenant \"one\"\\", .hard_limit = 1 << 20});
  tarn::Heap inner({.name = "caf\xc3\xa9 {=,} \xff", .parent = &tenant}), same({.name = "twice"}),
      other("twice");
  tarn::FixedPool fixed({.name = "twice", .block_bytes = 64});
  tarn::SharedFixedPool shared({.name = "# HELP no\tcomment", .block_bytes = 64, .largest_count = 5});
  tarn::BufferPool buffers;
  tarn::ObjectPool<long> objects({.name = ""});
  tarn::HandlePool<long> handles;
  tarn::Arena arena;
  // Two classes of one block size: the general one, and one of a typed pool.
  struct Hundred {
    char bytes[112];
  };
  tarn::ObjectPool<Hundred> hundreds;
  for (int i = 0; i < 100; ++i) tarn::deallocate(tarn::allocate(112));
  hundreds.destroy(hundreds.create());
  static_cast<void>(inner.allocate(1000));
  static_cast<void>(fixed.allocate());
  while (shared.allocate() != nullptr) {
  }
  buffers.deallocate(buffers.allocate(100000));
  objects.destroy(objects.create());
  handles.destroy(handles.create());
  static_cast<void>(arena.allocate(100));
  return tarn::write_metrics(STDOUT_FILENO) ? 0 : 1;
}
