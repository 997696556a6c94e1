// Calls malloc first on a painted stack of 8 KiB, as a fiber's may be. It succeeds when no call takes more
// than 4 KiB of it.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { kStackBytes = 8192, kMostBytes = 4096, kPaint = 0xA5 };

static unsigned char stack[kStackBytes] __attribute__((aligned(64)));
static ucontext_t main_context, fiber_context;
static void (*body)(void);

static void run_body(void) { body(); }

static size_t used_by(void (*call)(void)) {
  memset(stack, kPaint, sizeof stack);
  body = call;
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = sizeof stack;
  fiber_context.uc_link = &main_context;
  makecontext(&fiber_context, run_body, 0);
  swapcontext(&main_context, &fiber_context);
  size_t untouched = 0;
  while (untouched < sizeof stack && stack[untouched] == kPaint) ++untouched;
  return sizeof stack - untouched;
}

static void* blocks[3000];
static void first(void) { blocks[0] = malloc(24); }
static void many_sizes(void) {
  for (int i = 0; i < 3000; ++i) blocks[i] = malloc((size_t)i * 101 + 1);
}
static void free_all(void) {
  for (int i = 0; i < 3000; ++i) free(blocks[i]);
}
static void grow(void) {
  void* block = NULL;
  for (size_t bytes = 8; bytes < 64u << 20; bytes *= 2) block = realloc(block, bytes);
  free(block);
}
static void trim(void) { malloc_trim(0); }

int main(void) {
  static const struct {
    const char* name;
    void (*call)(void);
  } calls[] = {
      {"first", first}, {"many sizes", many_sizes}, {"free", free_all}, {"grow", grow}, {"trim", trim}};
  size_t used[5];
  for (int i = 0; i < 5; ++i) used[i] = used_by(calls[i].call);
  int failed = 0;
  for (int i = 0; i < 5; ++i) {
    printf("%s: %zu bytes of stack\n", calls[i].name, used[i]);
    failed |= used[i] > kMostBytes;
  }
  return failed;
}
