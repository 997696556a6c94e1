/* A library's fork handler (atfork_lock.c) that waits for another thread, which allocates meanwhile: it takes
   the library's lock, which that thread holds. The locks of malloc must be taken after it. A fork that hangs
   ends by SIGALRM. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/programs/blocks.h"

static atomic_int must_stop;

void take_library_lock(void);
void let_library_lock_go(void);

static void* allocate_under_the_lock(void* unused) {
  while (!atomic_load(&must_stop)) {
    take_library_lock();
    use_blocks();
    let_library_lock_go();
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  int good = 0;
  alarm(30);
  use_blocks();
  pthread_create(&thread, NULL, allocate_under_the_lock, NULL);
  for (int i = 0; i < 40; ++i) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
      use_blocks();
      _exit(0);
    }
    good += waitpid(child, &status, 0) == child && status == 0;
  }
  atomic_store(&must_stop, 1);
  pthread_join(thread, NULL);
  printf("children that worked: %d of 40\n", good);
  return good == 40 ? 0 : 1;
}
