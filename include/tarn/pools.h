/* The pools for C: fixed pools (of one thread and shared), heaps and their scopes, arenas, buffer pools. They
 * are those of the C++ headers fixed_pool.h, heap.h, arena.h and buffer_pool.h, which say how each works; the
 * inlined hits are missing here, each call is one. Typed pools are for C++ alone.
 *
 *   struct tarn_heap_options options = {.name = "plugin", .hard_limit = 1 << 20};
 *   tarn_heap* heap = tarn_heap_create(&options, sizeof options);
 *   char* text = tarn_heap_allocate(heap, 100);
 *   tarn_heap_destroy(heap);                         // frees all its blocks
 *
 * Options: a member that is 0 has its default, so name only what you want; a NULL for all of them has only
 * defaults. `bytes` is the struct's sizeof, which tells the library which members the program knows: members
 * are only added, and at the end. A member that the library does not know yet must be 0.
 *
 * Threads: a fixed pool, and an arena, are for one thread at a time; all else is for any. One thread creates
 * and destroys a pool, and no other uses it meanwhile. A callback runs in the calling thread, and no lock is
 * held.
 * Errors: a function that returns a pointer returns NULL and sets errno: EINVAL for an option, an alignment
 * or a count out of its range (and for all that keeps a buffer pool from being made), ENOMEM at a cap or
 * limit and when memory is refused. A wrong pointer, and a pool destroyed twice (when its record has no other
 * use yet), stop the process with one line (docs/safety.md).
 * Destroying NULL does nothing; all else wants a pool. tarn_deallocate takes back a block of any pool but an
 * arena in a heap or a buffer.
 * Costs: a hit is a call more than in C++. Sizes are in bytes. */
#ifndef TARN_POOLS_H
#define TARN_POOLS_H

#include <stddef.h>
#include <stdint.h>

#include "tarn/detail/c_api.h"

#define TARN_C_BLOCK TARN_C_ATTRIBUTES(malloc, warn_unused_result)
#define TARN_C_RESULT TARN_C_ATTRIBUTES(warn_unused_result)

/* -- Fixed pools: blocks of one size, n side by side, a cap ------------------------------------------- */

typedef struct tarn_fixed_pool tarn_fixed_pool;

struct tarn_fixed_pool_options {
  size_t block_bytes;      /* 1 .. 262144 */
  size_t alignment;        /* a power of two up to 65536; 0: 16 */
  size_t blocks_per_chunk; /* 1 .. 32768; 0: as many as a chunk of 64 KiB has, or more */
  size_t largest_count;    /* the most blocks the pool may have, the cap; 0: none */
  size_t initial_count;    /* blocks the pool has from the start */
  const char* name;        /* copied, up to 31 characters; NULL: "fixed pool" */
  /* Called when a block is refused, before NULL is returned; may free blocks of the pool. */
  void (*on_refusal)(void* context);
  void* context;
  int sensitive; /* 1: blocks are wiped when they are freed, left out of core files, read by no tool */
};

/** A pool for one thread at a time; tarn_shared_fixed_pool_create: for any. All functions serve both. */
TARN_C_API tarn_fixed_pool* tarn_fixed_pool_create(const struct tarn_fixed_pool_options* options,
                                                   size_t bytes) TARN_C_NOEXCEPT TARN_C_RESULT;
TARN_C_API tarn_fixed_pool* tarn_shared_fixed_pool_create(const struct tarn_fixed_pool_options* options,
                                                          size_t bytes) TARN_C_NOEXCEPT TARN_C_RESULT;
/** Frees all blocks, also live ones. */
TARN_C_API void tarn_fixed_pool_destroy(tarn_fixed_pool* pool) TARN_C_NOEXCEPT;

/** \returns a block of tarn_fixed_pool_block_bytes, contents undefined. */
TARN_C_API void* tarn_fixed_pool_allocate(tarn_fixed_pool* pool) TARN_C_NOEXCEPT TARN_C_BLOCK;
/** NULL is ignored. */
TARN_C_API void tarn_fixed_pool_deallocate(tarn_fixed_pool* pool, void* block) TARN_C_NOEXCEPT;
/** \returns the first of `count` blocks side by side; EINVAL for 0 and for more than a chunk has.
 *  \cost a call, if a run of that length, up to 64 blocks, is cached; else O(words of 64 blocks in up to 64
 *  chunks), independent of `count`. */
TARN_C_API void* tarn_fixed_pool_allocate_run(tarn_fixed_pool* pool,
                                              size_t count) TARN_C_NOEXCEPT TARN_C_BLOCK;
TARN_C_API void tarn_fixed_pool_deallocate_run(tarn_fixed_pool* pool, void* blocks,
                                               size_t count) TARN_C_NOEXCEPT;
/** Fills `blocks`. \returns how many there are; fewer, with errno ENOMEM, at the cap or without memory. */
TARN_C_API size_t tarn_fixed_pool_allocate_batch(tarn_fixed_pool* pool, size_t count,
                                                 void** blocks) TARN_C_NOEXCEPT TARN_C_RESULT;
/** NULLs among them are ignored. */
TARN_C_API void tarn_fixed_pool_deallocate_batch(tarn_fixed_pool* pool, void* const* blocks,
                                                 size_t count) TARN_C_NOEXCEPT;
/** \returns 1 when an address lies in one of the pool's chunks, else 0. */
TARN_C_API int tarn_fixed_pool_owns(const tarn_fixed_pool* pool, const void* pointer) TARN_C_NOEXCEPT;
/** Grows until `count` blocks are usable; prewarm: backed by memory too. \returns how many are usable. */
TARN_C_API size_t tarn_fixed_pool_reserve(tarn_fixed_pool* pool, size_t count) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_fixed_pool_prewarm(tarn_fixed_pool* pool, size_t count) TARN_C_NOEXCEPT;
/** Gives chunks without live blocks back. \returns their bytes. */
TARN_C_API size_t tarn_fixed_pool_release_unused(tarn_fixed_pool* pool) TARN_C_NOEXCEPT;
/** Frees all live blocks at once; the pool keeps its chunks. No other thread may use the pool meanwhile. */
TARN_C_API void tarn_fixed_pool_clear(tarn_fixed_pool* pool) TARN_C_NOEXCEPT;
/** Calls visit for each live block, in address order; of a run, for each of its blocks. visit may free any
 *  blocks and allocate new ones: one that is freed before its turn is not visited, one that is allocated may
 *  be. It must return. With other threads, a block that is live during the whole call is visited once; nobody
 *  else may free a block that visit touches. \cost a step per live block, and one per 64 blocks. */
TARN_C_API void tarn_fixed_pool_for_each_live(tarn_fixed_pool* pool,
                                              void (*visit)(void* block, void* context),
                                              void* context) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_fixed_pool_block_bytes(const tarn_fixed_pool* pool) TARN_C_NOEXCEPT;
/** \returns how many blocks the pool has, live or not. */
TARN_C_API size_t tarn_fixed_pool_capacity(const tarn_fixed_pool* pool) TARN_C_NOEXCEPT;
/** \cost a step per chunk, and of a pool for any threads a lock for each. */
TARN_C_API size_t tarn_fixed_pool_live_count(const tarn_fixed_pool* pool) TARN_C_NOEXCEPT;

/* -- Heaps: named, limited, counted to the byte, freed as a whole ------------------------------------- */

typedef struct tarn_heap tarn_heap;

struct tarn_heap_options {
  const char* name;  /* copied, up to 31 characters; NULL: "heap" */
  size_t soft_limit; /* live bytes; the callback runs each time they rise above; 0: none */
  size_t hard_limit; /* live bytes; an allocation that would exceed it is refused; 0: none */
  void (*on_soft_limit)(tarn_heap* heap, void* context);
  void* context;
  void* buffer; /* the caller's memory for the heap, at least 64 KiB, which outlives it; NULL: own pages */
  size_t buffer_bytes;
  size_t mapped_limit; /* bytes of pages of 64 KiB, also of heaps within; 0: none */
  tarn_heap* parent;   /* the heap that this one lies in, which ends later; NULL: none */
  int sensitive;       /* 1: as of a fixed pool */
};

/* Members are only added, and at the end. */
struct tarn_heap_use {
  size_t live_bytes;      /* of blocks handed out, as tarn_heap_usable_size tells, and inner_bytes */
  size_t live_count;      /* of its own */
  size_t peak_live_bytes; /* too high by no more than what threads had cached */
  size_t mapped_bytes;    /* pages */
  size_t inner_bytes;     /* of live_bytes: those of the heaps within */
};

TARN_C_API tarn_heap* tarn_heap_create(const struct tarn_heap_options* options,
                                       size_t bytes) TARN_C_NOEXCEPT TARN_C_RESULT;
/** Frees all its blocks, also live ones. \pre no heap lies in it, and no scope of it is open. */
TARN_C_API void tarn_heap_destroy(tarn_heap* heap) TARN_C_NOEXCEPT;

/** Aligned to 16 bytes, blocks of at most 8 bytes to 8. */
TARN_C_API void* tarn_heap_allocate(tarn_heap* heap, size_t size) TARN_C_NOEXCEPT TARN_C_BLOCK;
TARN_C_API void* tarn_heap_allocate_aligned(tarn_heap* heap, size_t size,
                                            size_t alignment) TARN_C_NOEXCEPT TARN_C_BLOCK;
TARN_C_API void* tarn_heap_allocate_zeroed(tarn_heap* heap, size_t count,
                                           size_t size) TARN_C_NOEXCEPT TARN_C_BLOCK;
/** \returns the block, which may have moved; NULL when refused, and the old block stays as it was. */
TARN_C_API void* tarn_heap_reallocate(tarn_heap* heap, void* block,
                                      size_t size) TARN_C_NOEXCEPT TARN_C_RESULT;
/** NULL is ignored. \pre a block of this heap. */
TARN_C_API void tarn_heap_deallocate(tarn_heap* heap, void* block) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_heap_usable_size(const tarn_heap* heap, const void* block) TARN_C_NOEXCEPT;
TARN_C_API int tarn_heap_owns(const tarn_heap* heap, const void* pointer) TARN_C_NOEXCEPT;
/** Frees all live blocks at once; the heap stays usable. \pre no other thread uses it meanwhile. */
TARN_C_API void tarn_heap_clear(tarn_heap* heap) TARN_C_NOEXCEPT;
/** \returns bytes given back; taken ahead of need. */
TARN_C_API size_t tarn_heap_release_unused(tarn_heap* heap) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_heap_prewarm(tarn_heap* heap, size_t bytes) TARN_C_NOEXCEPT;
/** Fills `*use`. \param bytes sizeof(struct tarn_heap_use). \returns how many bytes the library filled. */
TARN_C_API size_t tarn_heap_read_use(const tarn_heap* heap, struct tarn_heap_use* use,
                                     size_t bytes) TARN_C_NOEXCEPT;
/** 0: none. */
TARN_C_API void tarn_heap_set_limits(tarn_heap* heap, size_t soft_limit, size_t hard_limit) TARN_C_NOEXCEPT;

/* While a scope is open, the heap serves the thread's tarn_allocate and its relatives, and malloc where tarn
 * takes its place. Scopes of a thread nest. */
struct tarn_heap_scope {
  void* outer;
};
TARN_C_API void tarn_heap_scope_begin(struct tarn_heap_scope* scope, tarn_heap* heap) TARN_C_NOEXCEPT;
/** \pre the thread's innermost scope. */
TARN_C_API void tarn_heap_scope_end(const struct tarn_heap_scope* scope) TARN_C_NOEXCEPT;

/* -- Arenas: handed out by moving a pointer, freed all at once ---------------------------------------- */

typedef struct tarn_arena tarn_arena;

struct tarn_arena_options {
  const char* name;       /* copied, up to 31 characters; NULL: "arena" */
  size_t initial_bytes;   /* of the first chunk; 0: 4096 */
  size_t increment_bytes; /* of each further chunk; 0: twice the last, up to 1 MiB */
  size_t mapped_limit;    /* bytes of all chunks together; 0: no limit */
  tarn_heap* heap;        /* source of the chunks; NULL: the general pool's pages */
  void* buffer;           /* the caller's memory for the first chunk, which outlives the arena */
  size_t buffer_bytes;
  int stays;     /* 1: takes no chunk after its buffer or its first chunk */
  int sensitive; /* 1: as of a fixed pool; so are arenas in a sensitive heap */
};

/* A point in an arena's life. */
struct tarn_arena_mark {
  void* chunk;
  char* next;
  void* cleanup;
};

TARN_C_API tarn_arena* tarn_arena_create(const struct tarn_arena_options* options,
                                         size_t bytes) TARN_C_NOEXCEPT TARN_C_RESULT;
/** Runs the callbacks, then gives every chunk back. */
TARN_C_API void tarn_arena_destroy(tarn_arena* arena) TARN_C_NOEXCEPT;
/** Aligned to 16 bytes. No block is freed alone. */
TARN_C_API void* tarn_arena_allocate(tarn_arena* arena, size_t size) TARN_C_NOEXCEPT TARN_C_BLOCK;
TARN_C_API void* tarn_arena_allocate_aligned(tarn_arena* arena, size_t size,
                                             size_t alignment) TARN_C_NOEXCEPT TARN_C_BLOCK;
/** Runs run(context) when a rewind passes this point, at reset and at the arena's end; the latest first.
 *  \returns 0; -1 with errno ENOMEM. */
TARN_C_API int tarn_arena_on_cleanup(tarn_arena* arena, void (*run)(void* context),
                                     void* context) TARN_C_NOEXCEPT TARN_C_RESULT;
TARN_C_API struct tarn_arena_mark tarn_arena_set_mark(const tarn_arena* arena) TARN_C_NOEXCEPT;
/** Frees all that was allocated after the mark. \pre a mark of this arena; no rewind to an earlier one and no
 *  reset came since. */
TARN_C_API void tarn_arena_rewind(tarn_arena* arena, const struct tarn_arena_mark* mark) TARN_C_NOEXCEPT;
/** Frees everything; the chunks are kept for later. */
TARN_C_API void tarn_arena_reset(tarn_arena* arena) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_arena_release_unused(tarn_arena* arena) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_arena_prewarm(tarn_arena* arena, size_t bytes) TARN_C_NOEXCEPT;
/** \returns bytes handed out and the gaps between blocks; of all chunks; the most that were used at once. */
TARN_C_API size_t tarn_arena_used(const tarn_arena* arena) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_arena_capacity(const tarn_arena* arena) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_arena_high_water(const tarn_arena* arena) TARN_C_NOEXCEPT;
TARN_C_API int tarn_arena_owns(const tarn_arena* arena, const void* pointer) TARN_C_NOEXCEPT;

/* -- Buffer pools: a shared fixed pool for each of some sizes, counted references --------------------- */

typedef struct tarn_buffer_pool tarn_buffer_pool;

struct tarn_buffer_size {
  size_t bytes;         /* 1 .. 262144 */
  size_t largest_count; /* the most blocks of this size; 0: no cap */
};

/* What happens to buffers that are live when their pool ends: TARN_REPORT_LIVE writes a line and they stay
 * valid, TARN_HAND_OVER_LIVE keeps them valid in silence, TARN_END_LIVE ends them. */
enum tarn_at_pool_end { TARN_REPORT_LIVE = 0, TARN_END_LIVE = 1, TARN_HAND_OVER_LIVE = 2 };

struct tarn_buffer_pool_options {
  size_t smallest_bytes;                /* 1 .. 262144; sizes double from this one; 0: 64 */
  size_t largest_bytes;                 /* up to this one; 0: 16384 */
  const struct tarn_buffer_size* sizes; /* in place of the doublings: up to 32, ascending; NULL: none */
  size_t size_count;
  size_t alignment;           /* a power of two up to 65536; 0: 64 */
  size_t largest_count;       /* of each size: the most blocks; 0: no cap */
  size_t largest_size_bytes;  /* of each size: the most bytes; 0: no cap */
  size_t chunk_bytes;         /* a size grows by so many; 0: as a fixed pool does */
  size_t largest_above_bytes; /* the most live bytes of blocks larger than all sizes; 0: no limit */
  int refuses_above;          /* 1: blocks larger than all sizes are refused */
  int at_end;                 /* enum tarn_at_pool_end */
  const char* name;           /* copied, up to 31 characters; NULL: "buffer pool" */
  /* Called when a buffer is refused, before NULL is returned; may free blocks of the pool. */
  void (*on_refusal)(void* context);
  void* context;
  int sensitive; /* 1: as of a fixed pool */
};

/* Of one size, or of all larger blocks. Members are only added, and at the end. */
struct tarn_buffer_use {
  size_t block_bytes; /* 0: of larger blocks */
  size_t live_count;
  size_t live_bytes;
  size_t peak_live_bytes;
  size_t capacity;
  size_t mapped_bytes;
  size_t refusals;
};

TARN_C_API tarn_buffer_pool* tarn_buffer_pool_create(const struct tarn_buffer_pool_options* options,
                                                     size_t bytes) TARN_C_NOEXCEPT TARN_C_RESULT;
TARN_C_API void tarn_buffer_pool_destroy(tarn_buffer_pool* pool) TARN_C_NOEXCEPT;
/** \returns a block of the smallest size that has `bytes`; its references are not counted. */
TARN_C_API void* tarn_buffer_pool_allocate(tarn_buffer_pool* pool, size_t bytes) TARN_C_NOEXCEPT TARN_C_BLOCK;
/** From any thread; NULL is ignored. \pre a block of this pool that no shared buffer refers to. */
TARN_C_API void tarn_buffer_pool_deallocate(tarn_buffer_pool* pool, void* block) TARN_C_NOEXCEPT;
TARN_C_API int tarn_buffer_pool_owns(const tarn_buffer_pool* pool, const void* pointer) TARN_C_NOEXCEPT;
/** \returns how many bytes a block of a request may hold. */
TARN_C_API size_t tarn_buffer_pool_good_size(const tarn_buffer_pool* pool, size_t bytes) TARN_C_NOEXCEPT;
/** For the size that serves `bytes`, as tarn_fixed_pool_reserve; 0 when no size is as large. */
TARN_C_API size_t tarn_buffer_pool_reserve(tarn_buffer_pool* pool, size_t bytes,
                                           size_t count) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_buffer_pool_prewarm(tarn_buffer_pool* pool, size_t bytes,
                                           size_t count) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_buffer_pool_release_unused(tarn_buffer_pool* pool) TARN_C_NOEXCEPT;
TARN_C_API size_t tarn_buffer_pool_size_count(const tarn_buffer_pool* pool) TARN_C_NOEXCEPT;
/** Fills `*use` for one size. \param index tarn_buffer_pool_size_count() for all larger blocks.
 *  \param bytes sizeof(struct tarn_buffer_use). \returns how many bytes the library filled. */
TARN_C_API size_t tarn_buffer_pool_read_use(const tarn_buffer_pool* pool, size_t index,
                                            struct tarn_buffer_use* use, size_t bytes) TARN_C_NOEXCEPT;

/* A handle to a buffer whose references are counted; the last one that ends frees it, also after its pool.
 * A copy of the struct is a handle only once its reference has been added. */
struct tarn_shared_buffer {
  char* data;      /* NULL: no buffer */
  uint32_t* count; /* the library's */
  uint32_t size;   /* bytes from data on */
  uint32_t offset; /* the library's */
};

/** Makes `*buffer` the only handle to a buffer of `bytes` bytes, less than 4 GiB.
 *  \returns 0; -1 with errno ENOMEM, and no buffer. */
TARN_C_API int tarn_buffer_pool_allocate_shared(
    tarn_buffer_pool* pool, size_t bytes, struct tarn_shared_buffer* buffer) TARN_C_NOEXCEPT TARN_C_RESULT;
/** \returns another handle to the same bytes. \cost an addition; an atomic one once there are threads. */
TARN_C_API struct tarn_shared_buffer tarn_shared_buffer_add_reference(const struct tarn_shared_buffer* buffer)
    TARN_C_NOEXCEPT TARN_C_RESULT;
/** \returns another handle, to `bytes` bytes from `first` on; stops the process when there are fewer. */
TARN_C_API struct tarn_shared_buffer tarn_shared_buffer_slice(const struct tarn_shared_buffer* buffer,
                                                              size_t first,
                                                              size_t bytes) TARN_C_NOEXCEPT TARN_C_RESULT;
/** Ends a handle, from any thread; `*buffer` is none then. */
TARN_C_API void tarn_shared_buffer_release(struct tarn_shared_buffer* buffer) TARN_C_NOEXCEPT;
/** \returns how many handles the buffer has; 0 without a buffer. */
TARN_C_API size_t tarn_shared_buffer_reference_count(const struct tarn_shared_buffer* buffer) TARN_C_NOEXCEPT;

/* -- Sensitive memory of any size --------------------------------------------------------------------- */

/** \returns a block of at least `size` bytes, which is wiped when it is freed, left out of core files and
 *  read by no tool. tarn_deallocate takes it back too, and tarn_reallocate keeps it so. */
TARN_C_API void* tarn_allocate_sensitive(size_t size) TARN_C_NOEXCEPT TARN_C_BLOCK;
TARN_C_API void* tarn_allocate_sensitive_aligned(size_t size, size_t alignment) TARN_C_NOEXCEPT TARN_C_BLOCK;
/** NULL is ignored; a block from elsewhere stops the process. */
TARN_C_API void tarn_deallocate_sensitive(void* block) TARN_C_NOEXCEPT;

#undef TARN_C_BLOCK
#undef TARN_C_RESULT
#endif /* TARN_POOLS_H */
