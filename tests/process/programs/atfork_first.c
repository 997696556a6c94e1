/* Fork handlers that allocate, registered before the first block of the process: by the constructor of a
   library that comes before main (atfork_library.c), and here. Others come after the first block. A fork that
   hangs ends by SIGALRM. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/programs/blocks.h"

static atomic_int must_stop;

static void* keep_busy(void* unused) {
  while (!atomic_load(&must_stop)) use_blocks();
  return unused;
}

static int fork_once(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(5);
    use_blocks();
    _exit(0);
  }
  return waitpid(child, &status, 0) == child && status == 0;
}

static int fork_often(void) {
  int good = 0;
  for (int i = 0; i < 20; ++i) good += fork_once();
  return good;
}

int main(void) {
  pthread_t thread;
  alarm(15);
  pthread_atfork(use_blocks, use_blocks, use_blocks);
  const int before_first_block = fork_once();
  use_blocks();
  pthread_atfork(use_blocks, use_blocks, use_blocks);
  const int alone = fork_often();
  pthread_create(&thread, NULL, keep_busy, NULL);
  const int beside_a_thread = fork_often();
  atomic_store(&must_stop, 1);
  pthread_join(thread, NULL);
  printf("children that worked: %d of 1, %d of 20, %d of 20\n", before_first_block, alone, beside_a_thread);
  return before_first_block == 1 && alone == 20 && beside_a_thread == 20 ? 0 : 1;
}
