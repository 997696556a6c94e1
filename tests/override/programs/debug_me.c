/* A program for the debugger to stop in: it allocates, and starts a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void note_size(volatile int size) { printf("%d\n", size); }

static void* work(void* argument) {
  free(malloc(1000));
  return argument;
}

int main(void) {
  pthread_t thread;
  void* blocks[100];
  for (int i = 0; i < 100; ++i) blocks[i] = malloc(i * 100);
  note_size(17);
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  note_size(42);
  for (int i = 0; i < 100; ++i) free(blocks[i]);
  return 0;
}
