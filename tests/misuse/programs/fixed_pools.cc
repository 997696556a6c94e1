#include "misuse/misuse.h"
#include "tarn/fixed_pool.h"
#include "tarn/memory_pool.h"

// A shared pool whose threads have magazines.
struct SharedPackets : tarn::SharedFixedPool {
  SharedPackets() : SharedFixedPool({.name = "packets", .block_bytes = 64}) {
    take_turns([this] { deallocate(allocate()); });
  }
};

// A chunk's blocks may begin behind its pages' begin; what lies before the first is no block.
MISUSE(pool_fixed_before_first_block) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 1024, .blocks_per_chunk = 10});
  char* block = nullptr;
  do block = static_cast<char*>(pool.allocate_run(10));
  while (reinterpret_cast<std::uintptr_t>(block) % 65536 == 0);
  char* const first_page = block - reinterpret_cast<std::uintptr_t>(block) % 65536;
  must_die_with("free of a pointer that is no block of the pool in 'packets'", first_page);
  pool.deallocate(opaque(first_page));
}

// The address behind a chunk's last block is no block, though the chunk's pages go on, and the last block is
// free.
MISUSE(pool_fixed_behind_last_block) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64, .blocks_per_chunk = 10});
  char* const blocks = static_cast<char*>(pool.allocate_run(10));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", blocks + 10 * 64);
  pool.deallocate(opaque(blocks + 9 * 64));
  pool.deallocate(opaque(blocks + 10 * 64));
}

// So is an address at the end of the chunk's pages.
MISUSE(pool_fixed_far_behind_last_block) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 8, .alignment = 8, .blocks_per_chunk = 10});
  char* const blocks = static_cast<char*>(pool.allocate_run(10));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", blocks + 8000 * 8);
  pool.deallocate(opaque(blocks + 8000 * 8));
}

// A block of a fixed pool is freed twice.
MISUSE(pool_fixed_double_free) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  void* const kept = pool.allocate();
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
  pool.deallocate(kept);
}

// A block of a fixed pool is freed through the pool, and again through the general one.
MISUSE(pool_fixed_double_free_by_tarn_deallocate) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  void* const kept = pool.allocate();
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  tarn::deallocate(opaque(block));
  pool.deallocate(kept);
}

// One block of a run was freed before.
MISUSE(pool_fixed_double_free_in_run) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  char* const blocks = static_cast<char*>(pool.allocate_run(100));
  must_die_with("double free in 'packets'", blocks + 70 * 64);
  pool.deallocate(opaque(blocks + 70 * 64));
  pool.deallocate_run(opaque(blocks), 100);
}

// A block of a run is freed again, alone; the run waits for a request of its length.
MISUSE(pool_fixed_double_free_of_a_block_of_a_run) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  char* const run = static_cast<char*>(pool.allocate_run(20));
  must_die_with("double free in 'packets'", run + 3 * 64);
  pool.deallocate_run(opaque(run), 20);
  pool.deallocate(opaque(run + 3 * 64));
}

// A part of a run is freed again; the run waits for a request of its length.
MISUSE(pool_fixed_double_free_of_a_part_of_a_run) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  pool.deallocate_run(pool.allocate_run(5), 5);
  char* const run = static_cast<char*>(pool.allocate_run(20));
  must_die_with("double free in 'packets'", run + 10 * 64);
  pool.deallocate_run(opaque(run), 20);
  pool.deallocate_run(opaque(run + 10 * 64), 5);
}

// A run is freed twice; it waits for a request of its length.
MISUSE(pool_fixed_double_free_of_a_run) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  pool.deallocate_run(pool.allocate_run(20), 20);
  void* const run = pool.allocate_run(20);
  must_die_with("double free in 'packets'", run);
  pool.deallocate_run(opaque(run), 20);
  pool.deallocate_run(opaque(run), 20);
}

// A fixed pool is given a block of malloc's.
MISUSE(pool_fixed_foreign) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  void* const block = opaque(malloc(64));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
}

// A run is freed with a length that reaches into the next one, which is free.
MISUSE(pool_fixed_free_of_a_run_as_a_longer_one) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  pool.deallocate_run(pool.allocate_run(25), 25);
  char* const run = static_cast<char*>(pool.allocate_run(20));
  void* const next = pool.allocate_run(20);
  must_die_with("double free in 'packets'", run + 20 * 64);
  pool.deallocate_run(opaque(next), 20);
  pool.deallocate_run(opaque(run), 25);
}

// A fixed pool is given a pointer into a block.
MISUSE(pool_fixed_interior) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64});
  char* const block = static_cast<char*>(pool.allocate());
  must_die_with("free of a pointer into a block in 'packets'", block + 16);
  pool.deallocate(opaque(block + 16));
}

// A fixed pool is given a block of another one of the same size.
MISUSE(pool_fixed_other_pools_block) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64}), other({.name = "events", .block_bytes = 64});
  pool.allocate();
  void* const block = opaque(other.allocate());
  must_die_with("free of a block of 'events' in 'packets'", block);
  pool.deallocate(block);
  pool.release_unused();
}

// More blocks are given back than lie behind the pointer.
MISUSE(pool_fixed_run_beyond_its_chunk) {
  tarn::FixedPool pool({.name = "packets", .block_bytes = 64, .blocks_per_chunk = 100});
  char* const blocks = static_cast<char*>(pool.allocate_run(100));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", blocks + 90 * 64);
  pool.deallocate_run(opaque(blocks + 90 * 64), opaque(11ul));
}

// A shared fixed pool is given an object on the stack.
MISUSE(pool_fixed_stack_address) {
  tarn::SharedFixedPool pool({.name = "packets", .block_bytes = 64});
  pool.allocate();
  char local[64];
  must_die_with("free of a pointer that is no block of the pool in 'packets'", local);
  pool.deallocate(opaque(&local[0]));
}

// A block of a fixed pool with magazines is freed twice, the second time after many others.
MISUSE(pool_shared_double_free) {
  SharedPackets pool;
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  void* others[1000];
  for (void*& other : others) other = pool.allocate();
  for (void* other : others)
    if (other != block) pool.deallocate(other);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
}

// Two threads free one block of a fixed pool with magazines.
MISUSE(pool_shared_double_free_by_two_threads) {
  SharedPackets pool;
  void* const block = pool.allocate();
  must_die_with("double free in 'packets'", block);
  std::thread([&] { pool.deallocate(opaque(block)); }).join();
  std::thread([&] { tarn::deallocate(opaque(block)); }).join();
}

// One block of a run was freed before, and lies in a magazine.
MISUSE(pool_shared_double_free_in_run) {
  SharedPackets pool;
  char* const blocks = static_cast<char*>(pool.allocate_run(100));
  must_die_with("double free in 'packets'", blocks + 70 * 64);
  pool.deallocate(opaque(blocks + 70 * 64));
  pool.deallocate_run(opaque(blocks), 100);
}

// A run is freed twice, by two threads; it waits for a request of its length.
MISUSE(pool_shared_double_free_of_a_run) {
  SharedPackets pool;
  void* const run = pool.allocate_run(20);
  must_die_with("double free in 'packets'", run);
  pool.deallocate_run(opaque(run), 20);
  std::thread([&] { pool.deallocate_run(opaque(run), 20); }).join();
}

// A fixed pool with magazines is given a block of malloc's.
MISUSE(pool_shared_foreign) {
  SharedPackets pool;
  void* const block = opaque(malloc(64));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
}

// A fixed pool with magazines is given a pointer into a block.
MISUSE(pool_shared_interior) {
  SharedPackets pool;
  char* const block = static_cast<char*>(pool.allocate());
  must_die_with("free of a pointer into a block in 'packets'", block + 16);
  pool.deallocate(opaque(block + 16));
}

// A fixed pool with magazines is given a block of another pool.
MISUSE(pool_shared_other_pools_block) {
  SharedPackets pool;
  tarn::SharedFixedPool other({.name = "others", .block_bytes = 64});
  void* const block = other.allocate();
  must_die_with("free of a block of 'others' in 'packets'", block);
  pool.deallocate(block);
}
