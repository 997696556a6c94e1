/* A C program that was started without the library loads it, and uses it in threads from before and after.
   usage: load_at_run_time [--after TINY_LIBRARY] [--global] LIBRARY...
   --after   loads a hundred copies of a library first, each with thread-local storage that must be static */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "process/tasks.h"

enum { kThreads = 4, kCopies = 100 };

static void* (*allocate)(size_t);
static void (*deallocate)(void*);
static int (*work)(void);
static pthread_barrier_t is_loaded;

static void* function_of(void* library, const char* one_name, const char* other_name) {
  void* const function = dlsym(library, one_name);
  return function != NULL ? function : dlsym(library, other_name);
}

static int load(const char* path, int mode) {
  void* const library = dlopen(path, mode);
  if (library == NULL) return printf("%s\n", dlerror()), 0;
  allocate = (void* (*)(size_t))function_of(library, "tarn_allocate", "tarn_plugin_allocate");
  deallocate = (void (*)(void*))function_of(library, "tarn_deallocate", "tarn_plugin_deallocate");
  work = (int (*)(void))dlsym(library, "tarn_plugin_work");
  return allocate != NULL && deallocate != NULL;
}

static int use_library(void) {
  void* blocks[1000];
  int good = work == NULL || work() == 0;
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < 1000; ++i) memset(blocks[i] = allocate(16 + i * 7), (int)i, 16 + i * 7);
    for (size_t i = 0; i < 1000; ++i)
      good = good && ((unsigned char*)blocks[i])[15 + i * 7] == (unsigned char)i;
    for (size_t i = 0; i < 1000; ++i) deallocate(blocks[i]);
  }
  return good;
}

static void* use_when_loaded(void* must_wait) {
  if (must_wait != NULL) pthread_barrier_wait(&is_loaded);
  return use_library() ? &is_loaded : NULL;
}

static void start(pthread_t* threads, void* must_wait) {
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, use_when_loaded, must_wait);
}

static int join(const pthread_t* threads) {
  int good = 1;
  for (int i = 0; i < kThreads; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    good = good && result != NULL;
  }
  return good;
}

static int forked_child_uses_it(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    free_blocks(allocate, deallocate, 64, 1);
    _exit(use_library() ? 0 : 1);
  }
  return waitpid(child, &status, 0) == child && status == 0;
}

static void copy_file(const char* from, const char* to) {
  char command[1024];
  snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
  if (system(command) != 0) exit(64);
}

static void load_copies(const char* library) {
  char directory[] = "/tmp/tarn_copies_XXXXXX", path[64];
  if (mkdtemp(directory) == NULL) exit(64);
  for (int i = 0; i < kCopies; ++i) {
    snprintf(path, sizeof path, "%s/%d.so", directory, i);
    copy_file(library, path);
    void* const copy = dlopen(path, RTLD_NOW);
    unlink(path);
    if (copy == NULL) exit((printf("copy %d: %s\n", i, dlerror()), 64));
    if (((long (*)(void))dlsym(copy, "touch_eight_bytes"))() != 8) exit(64);
  }
  rmdir(directory);
}

static int load_and_use(const char* path, int mode) {
  pthread_t before[kThreads], after[kThreads];
  pthread_barrier_init(&is_loaded, NULL, kThreads + 1);
  start(before, &is_loaded);
  if (!load(path, mode)) return 0;
  pthread_barrier_wait(&is_loaded);
  start(after, NULL);
  const int good = use_library();
  free_blocks(allocate, deallocate, 64, 1);
  return join(before) & join(after) & good & forked_child_uses_it();
}

int main(int count, char** arguments) {
  int mode = RTLD_NOW | RTLD_LOCAL, loaded = 0;
  for (int i = 1; i < count; ++i) {
    if (strcmp(arguments[i], "--after") == 0) {
      load_copies(arguments[++i]);
    } else if (strcmp(arguments[i], "--global") == 0) {
      mode = RTLD_LAZY | RTLD_GLOBAL;
    } else if (!load_and_use(arguments[i], mode)) {
      return printf("%s: failed\n", arguments[i]), 1;
    } else {
      ++loaded;
    }
  }
  printf("%d loaded and used\n", loaded);
  return loaded == 0;
}
