/* Calls all of tarn/tarn.h, tarn/stats.h and tarn/options.h, and a pool of tarn/pools.h; brings defaults
 * along. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tarn/metrics.h>
#include <tarn/options.h>
#include <tarn/pools.h>
#include <tarn/stats.h>
#include <tarn/tarn.h>

const char* tarn_conf = "decay:700ms,thread_cache:1M";

static int failures;

#if TARN_VERSION != TARN_VERSION_MAJOR * 10000 + TARN_VERSION_MINOR * 100 + TARN_VERSION_PATCH || TARN_ABI < 2
#error the version is not what the preprocessor can compare
#endif

static void expect(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("uses_c: not so: %s\n", what);
}

static void allocate_and_free(void) {
  char* block = tarn_allocate(100);
  expect(block != NULL && tarn_usable_size(block) >= 100, "a block has the size asked for");
  memset(block, 7, 100);
  block = tarn_reallocate(block, 300000);
  expect(block != NULL && block[0] == 7 && block[99] == 7, "reallocate keeps the contents");
  tarn_deallocate(block);
  tarn_deallocate_sized(tarn_allocate(64), 64);
  tarn_deallocate(NULL);
  expect(tarn_usable_size(NULL) == 0 && tarn_good_size(100) >= 100, "sizes are told");
}

static void allocate_zeroed(void) {
  int* numbers = tarn_allocate_zeroed(10, sizeof *numbers);
  expect(numbers != NULL && numbers[0] == 0 && numbers[9] == 0, "zeroed memory is zero");
  tarn_deallocate(numbers);
  errno = 0;
  expect(tarn_allocate_zeroed(SIZE_MAX / 2, 3) == NULL && errno == ENOMEM, "an overflow is ENOMEM");
}

static void allocate_aligned(void) {
  void* block = tarn_allocate_aligned(100, 64);
  expect(block != NULL && (uintptr_t)block % 64 == 0, "alignment is kept");
  tarn_deallocate_aligned_sized(block, 100, 64);
  errno = 0;
  expect(tarn_allocate_aligned(100, 48) == NULL && errno == EINVAL, "48 is no alignment");
}

static void allocate_batch(void) {
  enum { kCount = 1000 };
  static void* blocks[kCount];
  expect(tarn_allocate_batch(32, kCount, blocks) == kCount, "a batch is whole");
  for (int i = 0; i < kCount; ++i) memset(blocks[i], i, 32);
  tarn_deallocate_batch(blocks, kCount);
  tarn_trim(0);
}

static void read_statistics(void) {
  struct tarn_statistics before, after;
  expect(tarn_stats(&before, sizeof before) == sizeof before, "all members are known");
  void* block = tarn_allocate(1000000);
  tarn_stats(&after, sizeof after);
  expect(after.live_bytes - before.live_bytes == tarn_usable_size(block), "live bytes are exact");
  tarn_deallocate(block);
}

static void count_option(const struct tarn_option_state* option, void* count) {
  expect(option->bytes == sizeof *option && option->help[0] != 0, "an option is told");
  ++*(int*)count;
}

static void set_options(void) {
  char text[16];
  int count = 0;
  expect(tarn_option("decay", text, sizeof text) == 5 && strcmp(text, "700ms") == 0, "tarn_conf is read");
  expect(tarn_set_option("decay", "3s") == 0, "an option is set");
  expect(tarn_option("decay", text, sizeof text) == 6 && strcmp(text, "3000ms") == 0, "it tells its value");
  expect(tarn_set_option("decay", "soon") == EINVAL, "a bad value is told");
  expect(tarn_set_option("colour", "red") == ENOENT, "an unknown option is told");
  expect(tarn_set_option("classes", "default") == EPERM, "what is fixed is told");
  tarn_for_each_option(count_option, &count);
  expect(count >= 15, "all options are told");
}

static void use_a_heap(void) {
  const struct tarn_heap_options options = {.name = "plugin", .hard_limit = 10000};
  tarn_heap* heap = tarn_heap_create(&options, sizeof options);
  expect(heap != NULL && tarn_heap_allocate(heap, 5000) != NULL, "a heap gives memory");
  expect(tarn_heap_allocate(heap, 20000) == NULL && errno == ENOMEM, "and refuses what is too much");
  tarn_heap_destroy(heap);
}

static void add_bytes(const char* text, size_t bytes, void* sum) {
  (void)text;
  *(size_t*)sum += bytes;
}

static void write_metrics(void) {
  size_t sum = 0;
  expect(tarn_write_metrics(add_bytes, &sum) == 0 && sum > 1000, "metrics are written");
}

int main(void) {
  allocate_and_free();
  allocate_zeroed();
  allocate_aligned();
  allocate_batch();
  read_statistics();
  set_options();
  use_a_heap();
  write_metrics();
  expect(strcmp(tarn_version(), TARN_EXPECTED_VERSION) == 0, "the library is of the package's version");
  expect(strcmp(TARN_VERSION_STRING, TARN_EXPECTED_VERSION) == 0, "the headers are of the package's version");
  return failures != 0;
}
