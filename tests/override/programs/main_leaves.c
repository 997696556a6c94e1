/* main leaves by pthread_exit; the process goes on until its last thread ends, and leaves with status 0. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_t main_thread;

static void* work(void* argument) {
  pthread_join(main_thread, NULL);
  for (size_t size = 1; size < 4000000; size = size * 3 / 2 + 1) {
    void* block = malloc(size);
    memset(block, 1, size);
    free(block);
  }
  free(argument);
  puts("the last thread is done");
  return NULL;
}

int main(void) {
  pthread_t thread;
  main_thread = pthread_self();
  void* blocks[2000];
  for (int i = 0; i < 2000; ++i)
    blocks[i] = malloc(2000); /* so that there is memory to give back with time */
  for (int i = 0; i < 2000; ++i) free(blocks[i]);
  pthread_create(&thread, NULL, work, malloc(100));
  pthread_detach(thread);
  pthread_exit(NULL);
}
