#include "misuse/misuse.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"
#include "tarn/memory_pool.h"

// A copy of an object's bytes, made without its class.
template <typename Object>
struct CopyOfBytes {
  explicit CopyOfBytes(const Object& original) {
    memcpy(bytes, static_cast<const void*>(&original), sizeof bytes);
  }
  Object& object() { return *reinterpret_cast<Object*>(opaque(&bytes[0])); }

  alignas(Object) char bytes[sizeof(Object)];
};

// Announces what a plain free of a buffer of several handles dies of.
static void must_die_as_shared(const tarn::SharedBuffer& buffer) {
  must_die_with(checked_or("free of a buffer that handles refer to in 'packets'", "double free in 'packets'"),
                buffer.data());
}

// More bytes of a chain are consumed than it has.
MISUSE(pool_buffer_chain_consumed_beyond_its_end) {
  tarn::BufferPool pool({.name = "packets"});
  tarn::BufferChain chain;
  chain.append(pool.allocate_shared(1000));
  chain.append(pool.allocate_shared(1000));
  chain.consume(100);
  must_die_with("more bytes than a chain has are to be consumed or split off", &chain);
  chain.consume(1901);
}

// A chain is copied byte by byte, and both end.
MISUSE(pool_buffer_chain_freed_twice) {
  tarn::BufferPool pool({.name = "packets"});
  tarn::BufferChain chain;
  for (size_t bytes = 500; bytes < 503; ++bytes) chain.append(pool.allocate_shared(bytes));
  must_die_with("double free in 'packets'", chain[0].data());
  CopyOfBytes copy(chain);
  chain.clear();
  copy.object().clear();
}

// A write past a block reaches the list of a long chain, which lies in a block of the general pool.
MISUSE(pool_buffer_chain_overwritten_list) {
  tarn::BufferPool pool({.name = "packets"});
  // The list of up to eight buffers gets the block of its size that was freed last; not so in the hardened
  // library, where the block stays free.
  void* const list = tarn::allocate(256);
  tarn::deallocate(list);
  tarn::BufferChain chain;
  for (size_t bytes = 500; bytes < 508; ++bytes) chain.append(pool.allocate_shared(bytes));
  memset(opaque(list), 0x41, 16);
  must_die_with(
      TARN_HARDENED != 0 ? "write into a freed block, found at exit" : "overwritten record of the library",
      list);
  chain.consume(500);
}

// A handle whose buffer has ended is copied, and the block is handed out while it has a reference.
MISUSE(pool_buffer_copy_of_an_ended_handle) {
  tarn::BufferPool pool({.name = "packets", .largest_count = 1});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("copy of a handle whose buffer has ended in 'packets'", buffer.data());
  CopyOfBytes ended(buffer);
  buffer.reset();
  const tarn::SharedBuffer copy(ended.object());
  pool.allocate_shared(1000);
}

// A block of a buffer pool is freed twice.
MISUSE(pool_buffer_double_free) {
  tarn::BufferPool pool({.name = "packets"});
  void* const block = pool.allocate(100);
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
}

// A batch given back to a buffer pool has a block twice.
MISUSE(pool_buffer_double_free_in_a_batch) {
  tarn::BufferPool pool({.name = "packets"});
  void* blocks[20];
  if (pool.allocate_batch(100, 20, blocks) != 20) return;
  blocks[19] = blocks[3];
  must_die_with("double free in 'packets'", blocks[3]);
  pool.deallocate_batch(blocks, 20);
}

// A buffer pool is given a block of malloc.
MISUSE(pool_buffer_foreign) {
  tarn::BufferPool pool({.name = "packets"});
  pool.deallocate(pool.allocate(100));
  void* const block = opaque(malloc(100));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
}

// A buffer that several handles refer to is freed as a plain block.
MISUSE(pool_buffer_free_of_a_shared_one) {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000), other = buffer;
  must_die_as_shared(buffer);
  pool.deallocate(opaque(other.data()));
}

// The same, by a free that knows no pool.
MISUSE(pool_buffer_free_of_a_shared_one_by_tarn_deallocate) {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000), other = buffer;
  must_die_as_shared(buffer);
  tarn::deallocate(opaque(other.data()));
}

// The same, in a process whose threads have magazines.
MISUSE(pool_buffer_free_of_a_shared_one_by_threads) {
  tarn::BufferPool pool({.name = "packets"});
  take_turns([&] { pool.deallocate(pool.allocate(1000)); });
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000), other = buffer;
  must_die_as_shared(buffer);
  pool.deallocate(opaque(other.data()));
}

// A batch given back to a buffer pool has a buffer that several handles refer to.
MISUSE(pool_buffer_free_of_a_shared_one_in_a_batch) {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000), other = buffer;
  void* blocks[] = {pool.allocate(1000), nullptr, other.data()};
  must_die_as_shared(buffer);
  pool.deallocate_batch(blocks, 3);
}

// A buffer with one handle is freed as a plain block; the handle's end is then the second free.
MISUSE(pool_buffer_free_of_the_only_handles) {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("double free in 'packets'", buffer.data());
  pool.deallocate(opaque(buffer.data()));
}

// A handle is copied byte by byte, and both end.
MISUSE(pool_buffer_handle_ends_twice) {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("double free in 'packets'", buffer.data());
  CopyOfBytes copy(buffer);
  buffer.reset();
  copy.object().reset();
}

// The same, of a buffer larger than all sizes: its count serves the next buffer by then.
MISUSE(pool_buffer_large_handle_ends_twice) {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(100000);
  must_die_with("double free", buffer.data());
  CopyOfBytes copy(buffer);
  buffer.reset();
  const tarn::SharedBuffer next = pool.allocate_shared(3000000);
  copy.object().reset();
}

// A handle is copied byte by byte; one ends, the pool gives its chunk back, and the other ends.
MISUSE(pool_buffer_handle_ends_twice_after_its_chunk) {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("double free", buffer.data());
  CopyOfBytes copy(buffer);
  buffer.reset();
  if (pool.release_unused() == 0) return;
  copy.object().reset();
}

// A buffer pool is given a pointer into a block.
MISUSE(pool_buffer_interior) {
  tarn::BufferPool pool({.name = "packets"});
  char* const block = static_cast<char*>(pool.allocate(1000)) + 64;
  must_die_with("free of a pointer into a block in 'packets'", block);
  pool.deallocate(opaque(block));
}

// A block that is larger than all sizes of its buffer pool is freed twice.
MISUSE(pool_buffer_large_double_free) {
  tarn::BufferPool pool({.name = "packets"});
  void* const kept = pool.allocate(20000);
  void* const block = pool.allocate(20000);
  must_die_with("double free in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(opaque(block));
  pool.deallocate(kept);
}

// A buffer pool is given a block of another one, where its own newest block has been.
MISUSE(pool_buffer_newest_block_in_another_pool) {
  tarn::BufferPool pool({.name = "packets"}), other({.name = "files"});
  void* const kept = pool.allocate(1000);
  pool.deallocate(pool.allocate(100));
  void* const newest = pool.allocate(100);  // one that was freed before
  pool.deallocate(newest);
  pool.release_unused();
  void* block = other.allocate(100);
  for (int i = 0; i < 1000 && block != newest; ++i) block = other.allocate(100);
  must_die_with("free of a block of 'files' in 'packets'", block);
  pool.deallocate(opaque(block));
  pool.deallocate(kept);
}

// A buffer pool is given a block of another one.
MISUSE(pool_buffer_other_pools_block) {
  tarn::BufferPool pool({.name = "packets"}), other({.name = "files"});
  void* const kept = pool.allocate(100);
  void* const block = opaque(other.allocate(100));
  must_die_with("free of a block of 'files' in 'packets'", block);
  pool.deallocate(block);
  pool.deallocate(kept);
}

// A buffer pool is given a block of another one that is larger than all sizes.
MISUSE(pool_buffer_other_pools_large_block) {
  tarn::BufferPool pool({.name = "packets"}), other({.name = "files"});
  void* const kept = pool.allocate(100000);
  void* const block = opaque(other.allocate(100000));
  must_die_with("free of a pointer that is no block of the pool in 'packets'", block);
  pool.deallocate(block);
  pool.deallocate(kept);
}

// A slice of more bytes than a handle has.
MISUSE(pool_buffer_slice_beyond_the_end) {
  tarn::BufferPool pool({.name = "packets"});
  const tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  must_die_with("slice beyond the end of a buffer in 'packets'", buffer.data());
  buffer.slice(0, 1000).slice(1000, 0).slice(0, 1);
}

// A handle is copied when its buffer has 2^31 - 1 of them.
MISUSE(pool_buffer_too_many_references) {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(1000);
  *tarn::detail::BufferHandleAccess::handle(buffer).others = tarn::detail::kMostReferences - 2;
  const tarn::SharedBuffer last = buffer;
  if (last.reference_count() != tarn::detail::kMostReferences) return;
  must_die_with("too many references to a buffer in 'packets'", buffer.data());
  const tarn::SharedBuffer one_more = buffer;
}

// The same, in a process with threads; through a slice, which names the start of its block.
MISUSE(pool_buffer_too_many_references_by_threads) {
  tarn::BufferPool pool({.name = "packets"});
  tarn::SharedBuffer buffer = pool.allocate_shared(100000);
  *tarn::detail::BufferHandleAccess::handle(buffer).others = tarn::detail::kMostReferences - 1;
  must_die_with("too many references to a buffer in 'packets'", buffer.data());
  std::thread([&] {
    tarn::SharedBuffer part(buffer.slice(100, 100));
    part.slice(1, 1);
  }).join();
}
