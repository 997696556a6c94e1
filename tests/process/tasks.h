/* What tests in C and C++ share: what /proc says of the tasks of the calling process, memory that is freed,
   and waiting with a deadline. Nothing here allocates but free_blocks. */
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMostTasks = 64, kStatusBytes = 8192, kSkipped = 77 };

/* Reads a whole small file, relative to a directory or by its absolute path. Returns its length, or -1. */
static inline long read_small_file(int directory, const char* path, char* text, size_t capacity) {
  const int file = openat(directory, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  size_t length = 0;
  ssize_t count = 0;
  while (length + 1 < capacity && (count = read(file, text + length, capacity - 1 - length)) > 0)
    length += (size_t)count;
  close(file);
  text[length] = '\0';
  return count < 0 ? -1 : (long)length;
}

/* The directory of the calling process's tasks, for the functions below. It serves on after a chroot, and not
   in the child of a fork. */
static inline int open_tasks(void) { return open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

struct directory_entry { /* linux_dirent64 */
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

/* The numbered names in a directory. Returns how many, or -1 when it cannot be read. */
static inline int list_numbers(int directory, int* numbers, int capacity) {
  char entries[4096] __attribute__((aligned(8)));
  int count = 0;
  lseek(directory, 0, SEEK_SET);
  for (;;) {
    const long bytes = syscall(SYS_getdents64, directory, entries, sizeof entries);
    if (bytes <= 0) return bytes < 0 ? -1 : count;
    for (long at = 0; at < bytes;) {
      const struct directory_entry* entry = (const struct directory_entry*)(entries + at);
      if (entry->name[0] != '.' && count < capacity) numbers[count++] = atoi(entry->name);
      at += entry->bytes;
    }
  }
}

static inline int task_count(int tasks) {
  int ids[kMostTasks];
  return list_numbers(tasks, ids, kMostTasks);
}

/* A task that is not the calling one, or 0. In a program with one thread that is the library's. */
static inline int other_task(int tasks) {
  int ids[kMostTasks];
  const int count = list_numbers(tasks, ids, kMostTasks);
  for (int i = 0; i < count; ++i)
    if (ids[i] != (int)syscall(SYS_gettid)) return ids[i];
  return 0;
}

static inline long read_task_file(int tasks, int task, const char* file, char* text, size_t capacity) {
  char path[64];
  snprintf(path, sizeof path, "%d/%s", task, file);
  return read_small_file(tasks, path, text, capacity);
}

/* Copies the value of a line like "Uid:\t0\t0\t0\t0". Returns 0 when there is no such line. */
static inline int status_value(const char* status, const char* name, char* value, size_t capacity) {
  char key[32];
  snprintf(key, sizeof key, "\n%s:\t", name);
  const char* line = strstr(status, key);
  if (line == NULL) return 0;
  line += strlen(key);
  snprintf(value, capacity, "%.*s", (int)strcspn(line, "\n"), line);
  return 1;
}

static inline uint64_t status_number(const char* status, const char* name, int base) {
  char value[64];
  return status_value(status, name, value, sizeof value) ? strtoull(value, NULL, base) : 0;
}

/* Gives blocks of 1 MiB back. What is touched of each decides how much memory there is behind it, and so how
   long it takes. */
static inline void free_blocks(void* (*allocate)(size_t), void (*deallocate)(void*), int count,
                               size_t touched_bytes) {
  enum { kMostBlocks = 256, kBytes = 1 << 20 };
  void* blocks[kMostBlocks];
  for (int i = 0; i < count && i < kMostBlocks; ++i)
    if ((blocks[i] = allocate(kBytes)) != NULL) memset(blocks[i], i + 1, touched_bytes);
  for (int i = 0; i < count && i < kMostBlocks; ++i) deallocate(blocks[i]);
}

static inline long milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

static inline void pause_a_millisecond(void) {
  const struct timespec pause = {0, 1000000};
  nanosleep(&pause, NULL);
}
