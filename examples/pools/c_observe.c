/* The same from C: live blocks, pools, and the ranges that a minidump needs. */
#include <stdio.h>
#include <tarn/observe.h>
#include <tarn/tarn.h>

struct sum {
  size_t blocks, bytes;
};

static void add_block(const struct tarn_live_block* block, void* context) {
  struct sum* sum = context;
  sum->blocks += 1;
  sum->bytes += block->bytes;
}

static void print_pool(const struct tarn_pool_use* use, void* context) {
  *(size_t*)context += 1;
  printf("%s '%s': %lu live bytes\n", use->kind, use->name, (unsigned long)use->live_bytes);
}

/* With Breakpad: handler->RegisterAppMemory((void*)start, bytes). */
static void add_range(const void* start, size_t bytes, void* context) {
  (void)start;
  *(size_t*)context += bytes;
}

int main(void) {
  struct tarn_heap_options options = {.name = "plugin"};
  tarn_heap* heap = tarn_heap_create(&options, sizeof options);
  void* text = heap == NULL ? NULL : tarn_heap_allocate(heap, 1000);
  void* request = tarn_allocate(100);
  struct sum all = {0, 0}, of_heap = {0, 0};
  size_t pools = 0, dumped = 0;
  if (text == NULL || request == NULL) return 1;
  if (tarn_visit_blocks(add_block, &all) != 0) return 1;
  if (tarn_heap_visit_blocks(heap, add_block, &of_heap) != 0) return 1;
  tarn_visit_pools(print_pool, &pools);
  tarn_visit_metadata_ranges(add_range, &dumped);
  printf("%lu blocks, %lu bytes; a dump needs %lu bytes of records\n", (unsigned long)all.blocks,
         (unsigned long)all.bytes, (unsigned long)dumped);
  tarn_deallocate(request);
  tarn_heap_destroy(heap);
  return all.blocks >= 2 && of_heap.blocks == 1 && pools >= 1 && dumped > 0 ? 0 : 1;
}
