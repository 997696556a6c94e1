/* A server in C: a heap with a limit for each tenant, an arena for each request, buffers that two connections
 * share, and its metrics. */
#include <stdio.h>
#include <string.h>
#include <tarn/metrics.h>
#include <tarn/pools.h>

static size_t answer(tarn_heap* tenant, const char* question) {
  const struct tarn_arena_options options = {.name = "request", .heap = tenant};
  tarn_arena* const arena = tarn_arena_create(&options, sizeof options);
  if (arena == NULL) return 0;
  const size_t length = strlen(question);
  char* const copy = tarn_arena_allocate(arena, length + 1);
  if (copy != NULL) memcpy(copy, question, length + 1);
  const size_t answered = copy != NULL ? strlen(copy) : 0;
  tarn_arena_destroy(arena); /* frees all of the request's memory */
  return answered;
}

static void write_page(const char* text, size_t bytes, void* page_bytes) {
  (void)text; /* here a server would send it */
  *(size_t*)page_bytes += bytes;
}

int main(void) {
  const struct tarn_heap_options limits = {.name = "tenant", .hard_limit = 1 << 20};
  tarn_heap* const tenant = tarn_heap_create(&limits, sizeof limits);
  tarn_buffer_pool* const packets = tarn_buffer_pool_create(NULL, 0);
  struct tarn_shared_buffer packet, copy;
  size_t page_bytes = 0;
  if (tenant == NULL || packets == NULL) return 1;
  int is_right = answer(tenant, "how late is it?") == 15;
  is_right &= tarn_heap_allocate(tenant, 2 << 20) == NULL; /* beyond its limit */

  if (tarn_buffer_pool_allocate_shared(packets, 1400, &packet) != 0) return 1;
  copy = tarn_shared_buffer_add_reference(&packet); /* for another connection */
  memset(packet.data, 1, packet.size);
  tarn_shared_buffer_release(&packet);
  is_right &= copy.data[1399] == 1;
  tarn_shared_buffer_release(&copy);

  is_right &= tarn_write_metrics(write_page, &page_bytes) == 0;
  printf("a page of %zu bytes tells of the tenant's refused call\n", page_bytes);
  tarn_buffer_pool_destroy(packets);
  tarn_heap_destroy(tenant);
  return is_right ? 0 : 1;
}
