// Compiled as in a build without NDEBUG, whose frees look their blocks up first.
#undef TARN_CHECK_FREES
#define TARN_CHECK_FREES 1

#include "misuse/misuse.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"

// A buffer is freed twice in one batch.
MISUSE(debug_buffer_double_free_behind_others) {
  tarn::BufferPool pool("packets");
  void* const one = pool.allocate(100);
  void* const other = pool.allocate(100);
  must_die_with("double free in 'packets'", one);
  void* const batch[] = {one, other, one};
  pool.deallocate_batch(batch, 3);
  abort();
}

// A block of a fixed pool is freed twice, with others in between.
MISUSE(debug_fixed_double_free_behind_others) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  void* blocks[40];
  for (void*& block : blocks) block = pool.allocate();
  must_die_with("double free in 'packets'", blocks[0]);
  for (int i = 0; i < 12; ++i) pool.deallocate(opaque(blocks[i]));
  pool.deallocate(opaque(blocks[0]));
  abort();
}

// A block is freed by a fixed pool that does not have it.
MISUSE(debug_fixed_other_pools_block) {
  tarn::FixedPool one({.name = "packets", .block_bytes = 64}), other({.name = "events", .block_bytes = 64});
  void* const block = other.allocate();
  must_die_with("free of a block of 'events' in 'packets'", block);
  one.deallocate(opaque(block));
  abort();
}

// A run is freed twice, with another in between.
MISUSE(debug_fixed_run_freed_twice) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  void* const run = pool.allocate_run(5);
  void* const other = pool.allocate_run(5);
  must_die_with("double free in 'packets'", run);
  pool.deallocate_run(opaque(run), 5);
  pool.deallocate_run(opaque(other), 5);
  pool.deallocate_run(opaque(run), 5);
  abort();
}

// A block of a heap with size classes is freed twice, with another in between.
MISUSE(debug_heap_double_free_behind_others) {
  tarn::Heap heap("room");
  heap.prewarm(1 << 20);
  void* const one = heap.allocate(100);
  void* const other = heap.allocate(100);
  must_die_with("double free in 'room'", one);
  heap.deallocate(opaque(one));
  heap.deallocate(opaque(other));
  heap.deallocate(opaque(one));
  abort();
}

struct Session {
  bool has_ended = false;
  ~Session() {
    if (has_ended) abort();
    has_ended = true;
  }
};

// An object is destroyed twice, with another in between; its destructor does not run a second time.
MISUSE(debug_object_double_free_behind_others) {
  tarn::ObjectPool<Session> pool;
  Session* const session = pool.create();
  Session* const other = pool.create();
  must_die_with("double free in 'object pool'", session);
  pool.destroy(opaque(session));
  pool.destroy(opaque(other));
  pool.destroy(opaque(session));
  abort();
}

struct Key {
  static inline int destroyed = 0;
  char bytes[32];
  ~Key() {
    if (++destroyed == 3) abort();
  }
};

// An object of a sensitive pool is destroyed twice; its destructor does not run a second time.
MISUSE(debug_object_of_a_sensitive_pool_destroyed_twice) {
  tarn::ObjectPool<Key> pool({.name = "keys", .sensitive = true});
  Key* const key = pool.create();
  Key* const other = pool.create();
  must_die_with("double free in 'keys'", key);
  pool.destroy(opaque(key));
  pool.destroy(opaque(other));
  pool.destroy(opaque(key));
  abort();
}

// A block of a shared fixed pool is freed twice, with so many others in between that it
// has returned to its slab.
MISUSE(debug_shared_double_free_behind_others) {
  constexpr int kCount = 20000;
  static void* blocks[kCount];
  tarn::SharedFixedPool pool({.name = "packets", .block_bytes = 64});
  for (void*& block : blocks) block = pool.allocate();
  must_die_with("double free in 'packets'", blocks[0]);
  for (int i = 0; i < kCount; i += 2) pool.deallocate(opaque(blocks[i]));
  pool.deallocate(opaque(blocks[0]));
  abort();
}
