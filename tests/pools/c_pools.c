/* Every function of tarn/pools.h and tarn/metrics.h, from C99. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tarn/metrics.h"
#include "tarn/pools.h"
#include "tarn/tarn.h"

static int failures;

#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("c_pools.c:%d: not so: %s\n", line, what);
}

/* Where blocks come from malloc, there are no chunks and no pages. */
static int are_malloc_blocks(void) {
  const char* const option = getenv("TARN_POOLS_USE_MALLOC");
  return option != NULL && strcmp(option, "1") == 0;
}

static void count_call(void* context) { ++*(int*)context; }

/* What a walk has met: how many blocks, and the last of them. */
struct visits {
  tarn_fixed_pool* pool; /* that the blocks are given back to; NULL: they stay */
  size_t count;
  char* last;
  int is_ascending;
};

static void visit_block(void* block, void* context) {
  struct visits* visits = context;
  visits->is_ascending &= (char*)block > visits->last;
  visits->last = block;
  ++visits->count;
  if (visits->pool != NULL) tarn_fixed_pool_deallocate(visits->pool, block);
}

/* Walks over `count` live blocks, then frees them in a second walk. */
static void walk_over_live_blocks(tarn_fixed_pool* pool, size_t count) {
  struct visits visits = {.is_ascending = 1};
  tarn_fixed_pool_for_each_live(pool, visit_block, &visits);
  EXPECT(visits.count == count);
  EXPECT(visits.is_ascending || are_malloc_blocks());
  visits.pool = pool;
  tarn_fixed_pool_for_each_live(pool, visit_block, &visits);
  EXPECT(visits.count == 2 * count && tarn_fixed_pool_live_count(pool) == 0);
  tarn_fixed_pool_for_each_live(pool, visit_block, &visits);
  EXPECT(visits.count == 2 * count);
}

static void use_fixed_pool(tarn_fixed_pool* pool, size_t cap, const int* refusals) {
  void* blocks[64];
  size_t i;
  EXPECT(pool != NULL);
  EXPECT(tarn_fixed_pool_block_bytes(pool) == 48);
  EXPECT(tarn_fixed_pool_reserve(pool, 3) >= 3);
  EXPECT(tarn_fixed_pool_prewarm(pool, 3) >= 3);
  for (i = 0; i < cap; ++i) {
    blocks[i] = tarn_fixed_pool_allocate(pool);
    EXPECT(blocks[i] != NULL && (uintptr_t)blocks[i] % 16 == 0);
    memset(blocks[i], (int)i, 48);
  }
  errno = 0;
  EXPECT(tarn_fixed_pool_allocate(pool) == NULL && errno == ENOMEM && *refusals == 1);
  for (i = 0; i < cap; ++i) EXPECT(*(unsigned char*)blocks[i] == i);
  EXPECT(tarn_fixed_pool_live_count(pool) == cap && tarn_fixed_pool_capacity(pool) == cap);
  EXPECT(tarn_fixed_pool_owns(pool, blocks[0]) == 1 && tarn_fixed_pool_owns(pool, &i) == 0);
  tarn_fixed_pool_deallocate(pool, blocks[0]);
  tarn_fixed_pool_deallocate(pool, NULL);
  tarn_fixed_pool_deallocate_batch(pool, (void* const*)blocks + 1, cap - 1);
  EXPECT(tarn_fixed_pool_live_count(pool) == 0);

  blocks[0] = tarn_fixed_pool_allocate_run(pool, 5);
  EXPECT(blocks[0] != NULL && tarn_fixed_pool_live_count(pool) == 5);
  if (blocks[0] != NULL) memset(blocks[0], 1, 5 * 48);
  tarn_fixed_pool_deallocate_run(pool, blocks[0], 5);
  errno = 0;
  EXPECT(tarn_fixed_pool_allocate_run(pool, 0) == NULL && errno == EINVAL);
  EXPECT(tarn_fixed_pool_allocate_run(pool, 100000) == NULL && errno == EINVAL);
  EXPECT(tarn_fixed_pool_allocate_batch(pool, 4, blocks) == 4);
  tarn_deallocate(blocks[3]); /* one deallocate for all pools */
  EXPECT(tarn_fixed_pool_live_count(pool) == 3);
  errno = 0;
  EXPECT(tarn_fixed_pool_allocate_batch(pool, 64, blocks) == cap - 3 && errno == ENOMEM);
  tarn_fixed_pool_clear(pool);
  EXPECT(tarn_fixed_pool_live_count(pool) == 0);
  EXPECT((tarn_fixed_pool_release_unused(pool) != 0) == !are_malloc_blocks());
  EXPECT(tarn_fixed_pool_allocate_batch(pool, 7, blocks) == 7);
  walk_over_live_blocks(pool, 7);
  EXPECT(tarn_fixed_pool_allocate(pool) != NULL); /* its end frees it */
  tarn_fixed_pool_destroy(pool);
}

static void use_fixed_pools(void) {
  int refusals = 0;
  struct tarn_fixed_pool_options options = {.block_bytes = 40, .largest_count = 20, .name = "c"};
  options.on_refusal = count_call;
  options.context = &refusals;
  use_fixed_pool(tarn_fixed_pool_create(&options, sizeof options), 20, &refusals);
  refusals = 0;
  use_fixed_pool(tarn_shared_fixed_pool_create(&options, sizeof options), 20, &refusals);
  tarn_fixed_pool_destroy(NULL);
}

/* The options of another version of the header. */
struct newer_options {
  struct tarn_fixed_pool_options known;
  size_t unknown;
};

static void read_options_of_any_version(void) {
  struct newer_options newer;
  struct tarn_fixed_pool_options options = {.block_bytes = 64, .name = "old", .largest_count = 1};
  tarn_fixed_pool* pool;
  memset(&newer, 0, sizeof newer);
  newer.known = options;
  pool = tarn_fixed_pool_create(&newer.known, sizeof newer);
  EXPECT(pool != NULL);
  tarn_fixed_pool_destroy(pool);
  newer.unknown = 1;
  errno = 0;
  EXPECT(tarn_fixed_pool_create(&newer.known, sizeof newer) == NULL && errno == EINVAL);
  /* Only the size is known: there is no cap. */
  pool = tarn_fixed_pool_create(&options, sizeof options.block_bytes);
  EXPECT(pool != NULL && tarn_fixed_pool_allocate(pool) != NULL && tarn_fixed_pool_allocate(pool) != NULL);
  tarn_fixed_pool_destroy(pool);
  options.alignment = 3;
  errno = 0;
  EXPECT(tarn_fixed_pool_create(&options, sizeof options) == NULL && errno == EINVAL);
  errno = 0;
  EXPECT(tarn_fixed_pool_create(NULL, 0) == NULL && errno == EINVAL); /* a size has no default */
}

static void* use_shared_pool(void* pool) {
  int i;
  for (i = 0; i < 20000; ++i) {
    int* const block = tarn_fixed_pool_allocate(pool);
    if (block == NULL) return pool;
    *block = i;
    tarn_fixed_pool_deallocate(pool, block);
  }
  return NULL;
}

static void share_a_fixed_pool(void) {
  const struct tarn_fixed_pool_options options = {.block_bytes = 64, .name = "shared"};
  tarn_fixed_pool* const pool = tarn_shared_fixed_pool_create(&options, sizeof options);
  pthread_t threads[3];
  void* result;
  int i;
  for (i = 0; i < 3; ++i) EXPECT(pthread_create(&threads[i], NULL, use_shared_pool, pool) == 0);
  for (i = 0; i < 3; ++i) EXPECT(pthread_join(threads[i], &result) == 0 && result == NULL);
  EXPECT(tarn_fixed_pool_live_count(pool) == 0);
  tarn_fixed_pool_destroy(pool);
}

static tarn_heap* told_heap;

static void note_soft_limit(tarn_heap* heap, void* context) {
  told_heap = heap;
  ++*(int*)context;
}

static void use_heap(void) {
  int crossings = 0;
  struct tarn_heap_use use;
  tarn_heap *heap, *inner;
  char *block, *zeroed;
  struct tarn_heap_options options = {.name = "tenant", .soft_limit = 10000, .hard_limit = 100000};
  options.on_soft_limit = note_soft_limit;
  options.context = &crossings;
  heap = tarn_heap_create(&options, sizeof options);
  EXPECT(heap != NULL);
  block = tarn_heap_allocate(heap, 5000);
  EXPECT(block != NULL && tarn_heap_usable_size(heap, block) >= 5000 && tarn_heap_owns(heap, block) == 1);
  memset(block, 7, 5000);
  block = tarn_heap_reallocate(heap, block, 20000);
  EXPECT(block != NULL && block[4999] == 7 && crossings == 1 && told_heap == heap);
  errno = 0;
  EXPECT(tarn_heap_allocate(heap, 90000) == NULL && errno == ENOMEM);
  errno = 0;
  EXPECT(tarn_heap_allocate_aligned(heap, 10, 3) == NULL && errno == EINVAL);
  zeroed = tarn_heap_allocate_zeroed(heap, 10, 10);
  EXPECT(zeroed != NULL && zeroed[99] == 0);
  EXPECT((uintptr_t)tarn_heap_allocate_aligned(heap, 100, 256) % 256 == 0);
  tarn_heap_deallocate(heap, zeroed);
  tarn_heap_deallocate(heap, NULL);
  EXPECT(tarn_heap_usable_size(heap, NULL) == 0);

  memset(&options, 0, sizeof options);
  options.parent = heap;
  inner = tarn_heap_create(&options, sizeof options);
  EXPECT(inner != NULL && tarn_heap_allocate(inner, 1000) != NULL);
  EXPECT(tarn_heap_allocate(inner, 90000) == NULL);
  EXPECT(tarn_heap_read_use(heap, &use, sizeof use) == sizeof use);
  EXPECT(use.live_count == 2 && use.inner_bytes >= 1000 && use.live_bytes >= 21000 &&
         use.peak_live_bytes >= use.live_bytes);
  EXPECT((use.mapped_bytes != 0) == !are_malloc_blocks());
  use.live_count = 99;
  EXPECT(tarn_heap_read_use(heap, &use, sizeof use.live_bytes) == sizeof use.live_bytes);
  EXPECT(use.live_count == 99); /* beyond what the program knows */
  tarn_heap_set_limits(heap, 0, 0);
  EXPECT(tarn_heap_allocate(inner, 900000) != NULL);
  tarn_heap_destroy(inner);
  tarn_heap_clear(heap);
  EXPECT(tarn_heap_read_use(heap, &use, sizeof use) == sizeof use && use.live_bytes == 0);
  tarn_heap_release_unused(heap);
  EXPECT((tarn_heap_prewarm(heap, 100000) >= 100000) == !are_malloc_blocks());
  tarn_heap_destroy(heap);
  tarn_heap_destroy(NULL);
}

static void use_a_heap_over_a_buffer(void) {
  static char buffer[128 * 1024];
  struct tarn_heap_options options = {.buffer = buffer, .buffer_bytes = 1000};
  tarn_heap* heap = tarn_heap_create(NULL, 0);
  EXPECT(heap != NULL && tarn_heap_allocate(heap, 1 << 20) != NULL);
  tarn_heap_destroy(heap);
  errno = 0;
  EXPECT(tarn_heap_create(&options, sizeof options) == NULL && errno == EINVAL);
  options.buffer_bytes = sizeof buffer;
  heap = tarn_heap_create(&options, sizeof options);
  EXPECT(heap != NULL);
  if (heap != NULL) {
    const char* const block = tarn_heap_allocate(heap, 100);
    EXPECT(block != NULL);
    EXPECT((block >= buffer && block < buffer + sizeof buffer) == !are_malloc_blocks());
  }
  tarn_heap_destroy(heap);
}

static void use_heap_scopes(void) {
  tarn_heap *const outer = tarn_heap_create(NULL, 0), *const inner = tarn_heap_create(NULL, 0);
  struct tarn_heap_scope first, second;
  void *in_outer, *in_inner, *outside;
  tarn_heap_scope_begin(&first, outer);
  tarn_heap_scope_begin(&second, inner);
  in_inner = tarn_allocate(100);
  tarn_heap_scope_end(&second);
  in_outer = tarn_allocate(100);
  tarn_heap_scope_end(&first);
  outside = tarn_allocate(100);
  EXPECT(tarn_heap_owns(inner, in_inner) && !tarn_heap_owns(inner, in_outer));
  EXPECT(tarn_heap_owns(outer, in_outer) && !tarn_heap_owns(outer, outside));
  tarn_deallocate(in_inner);
  tarn_deallocate(in_outer);
  tarn_deallocate(outside);
  tarn_heap_destroy(inner);
  tarn_heap_destroy(outer);
}

static void use_arena(void) {
  static char buffer[4096];
  int before = 0, behind = 0;
  struct tarn_arena_mark mark;
  struct tarn_arena_options options = {.name = "request", .initial_bytes = 10000};
  tarn_arena* arena = tarn_arena_create(&options, sizeof options);
  char *first, *second;
  EXPECT(arena != NULL);
  first = tarn_arena_allocate(arena, 100);
  EXPECT(first != NULL && (uintptr_t)first % 16 == 0 && tarn_arena_owns(arena, first) == 1);
  EXPECT(tarn_arena_on_cleanup(arena, count_call, &before) == 0);
  mark = tarn_arena_set_mark(arena);
  EXPECT(tarn_arena_on_cleanup(arena, count_call, &behind) == 0);
  second = tarn_arena_allocate_aligned(arena, 100, 512);
  EXPECT(second != NULL && (uintptr_t)second % 512 == 0);
  errno = 0;
  EXPECT(tarn_arena_allocate_aligned(arena, 100, 12) == NULL && errno == EINVAL);
  EXPECT(tarn_arena_used(arena) >= 200 && tarn_arena_capacity(arena) >= tarn_arena_used(arena));
  tarn_arena_rewind(arena, &mark);
  EXPECT(behind == 1 && before == 0);
  tarn_arena_reset(arena);
  EXPECT(behind == 1 && before == 1 && tarn_arena_used(arena) == 0 && tarn_arena_high_water(arena) >= 200);
  EXPECT(tarn_arena_prewarm(arena, 50000) >= 50000 || are_malloc_blocks());
  tarn_arena_release_unused(arena);
  EXPECT(tarn_arena_on_cleanup(arena, count_call, &before) == 0);
  tarn_arena_destroy(arena);
  EXPECT(before == 2);

  memset(&options, 0, sizeof options);
  options.buffer = buffer;
  options.buffer_bytes = sizeof buffer;
  options.stays = 1;
  options.sensitive = 1;
  arena = tarn_arena_create(&options, sizeof options);
  first = tarn_arena_allocate(arena, 1000);
  errno = 0;
  EXPECT(first != NULL);
  EXPECT(are_malloc_blocks() || (tarn_arena_allocate(arena, 4000) == NULL && errno == ENOMEM));
  tarn_arena_destroy(arena);
  tarn_arena_destroy(NULL);
}

static void* release_shared(void* buffer) {
  tarn_shared_buffer_release(buffer);
  return NULL;
}

static void use_shared_buffers(tarn_buffer_pool* pool) {
  struct tarn_shared_buffer buffer, other, part;
  struct tarn_buffer_use use;
  pthread_t thread;
  EXPECT(tarn_buffer_pool_allocate_shared(pool, 1000, &buffer) == 0);
  EXPECT(buffer.size == 1000 && tarn_shared_buffer_reference_count(&buffer) == 1);
  memcpy(buffer.data, "head, tail", 10);
  other = tarn_shared_buffer_add_reference(&buffer);
  part = tarn_shared_buffer_slice(&buffer, 6, 4);
  EXPECT(part.size == 4 && memcmp(part.data, "tail", 4) == 0);
  EXPECT(tarn_shared_buffer_reference_count(&buffer) == 3);
  tarn_shared_buffer_release(&buffer);
  EXPECT(buffer.data == NULL && tarn_shared_buffer_reference_count(&buffer) == 0);
  tarn_shared_buffer_release(&buffer); /* none */
  EXPECT(pthread_create(&thread, NULL, release_shared, &other) == 0 && pthread_join(thread, NULL) == 0);
  EXPECT(tarn_shared_buffer_reference_count(&part) == 1 && memcmp(part.data, "tail", 4) == 0);
  tarn_shared_buffer_release(&part);
  EXPECT(tarn_buffer_pool_read_use(pool, 1, &use, sizeof use) == sizeof use);
  EXPECT(use.block_bytes == 1024 && use.live_count == 0 && use.peak_live_bytes >= 1024);
  errno = 0;
  EXPECT(tarn_buffer_pool_allocate_shared(pool, (size_t)5 << 30, &buffer) == -1 && errno == ENOMEM);
  EXPECT(buffer.data == NULL);
}

static void use_buffer_pool(void) {
  int refusals = 0;
  const struct tarn_buffer_size sizes[] = {{.bytes = 256, .largest_count = 2}, {.bytes = 1024}};
  struct tarn_buffer_pool_options options = {.sizes = sizes, .size_count = 2, .at_end = TARN_END_LIVE};
  tarn_buffer_pool* pool;
  void *first, *second, *large;
  struct tarn_buffer_use use;
  options.on_refusal = count_call;
  options.context = &refusals;
  pool = tarn_buffer_pool_create(&options, sizeof options);
  EXPECT(pool != NULL && tarn_buffer_pool_size_count(pool) == 2);
  first = tarn_buffer_pool_allocate(pool, 200);
  second = tarn_buffer_pool_allocate(pool, 256);
  EXPECT(first != NULL && (uintptr_t)first % 64 == 0 && tarn_buffer_pool_owns(pool, first) == 1);
  errno = 0;
  EXPECT(tarn_buffer_pool_allocate(pool, 10) == NULL && errno == ENOMEM && refusals == 1);
  EXPECT(tarn_buffer_pool_read_use(pool, 0, &use, sizeof use) == sizeof use);
  EXPECT(use.live_count == 2 && use.live_bytes == 512 && use.refusals == 1);
  tarn_buffer_pool_deallocate(pool, first);
  tarn_buffer_pool_deallocate(pool, second);
  tarn_buffer_pool_deallocate(pool, NULL);
  EXPECT(tarn_buffer_pool_good_size(pool, 300) == 1024);
  EXPECT(tarn_buffer_pool_reserve(pool, 300, 5) >= 5 && tarn_buffer_pool_prewarm(pool, 300, 5) >= 5);
  large = tarn_buffer_pool_allocate(pool, 100000);
  EXPECT(large != NULL && tarn_buffer_pool_read_use(pool, 2, &use, sizeof use) == sizeof use);
  EXPECT(use.block_bytes == 0 && use.live_count == 1);
  tarn_buffer_pool_deallocate(pool, large);
  use_shared_buffers(pool);
  tarn_buffer_pool_release_unused(pool);
  EXPECT(tarn_buffer_pool_allocate(pool, 10) != NULL); /* its end frees it */
  tarn_buffer_pool_destroy(pool);
  tarn_buffer_pool_destroy(NULL);

  options.refuses_above = 1;
  pool = tarn_buffer_pool_create(&options, sizeof options);
  EXPECT(tarn_buffer_pool_allocate(pool, 2000) == NULL);
  tarn_buffer_pool_destroy(pool);
  options.at_end = 3;
  errno = 0;
  EXPECT(tarn_buffer_pool_create(&options, sizeof options) == NULL && errno == EINVAL);
  options.at_end = TARN_HAND_OVER_LIVE;
  options.size_count = 0;
  EXPECT(tarn_buffer_pool_create(&options, sizeof options) == NULL && errno == EINVAL);
}

static void hand_over_a_buffer(void) {
  const struct tarn_buffer_pool_options options = {.at_end = TARN_HAND_OVER_LIVE};
  tarn_buffer_pool* const pool = tarn_buffer_pool_create(&options, sizeof options);
  struct tarn_shared_buffer buffer;
  EXPECT(tarn_buffer_pool_allocate_shared(pool, 100, &buffer) == 0);
  tarn_buffer_pool_destroy(pool);
  memset(buffer.data, 1, 100);
  tarn_shared_buffer_release(&buffer);
}

static void add_bytes(const char* text, size_t bytes, void* sum) {
  EXPECT(text != NULL);
  *(size_t*)sum += bytes;
}

static void write_metrics(void) {
  size_t sum = 0;
  EXPECT(tarn_write_metrics(add_bytes, &sum) == 0 && sum > 1000);
  errno = 0;
  EXPECT(tarn_write_metrics_to(-1) == -1 && errno == EBADF);
}

int main(void) {
  use_fixed_pools();
  read_options_of_any_version();
  share_a_fixed_pool();
  use_heap();
  use_a_heap_over_a_buffer();
  use_heap_scopes();
  use_arena();
  use_buffer_pool();
  hand_over_a_buffer();
  write_metrics();
  return failures == 0 ? 0 : 1;
}
