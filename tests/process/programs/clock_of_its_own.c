/* To be preloaded: functions of libc that tools interpose, here ones that serve the program's only thread and
   end the process when any other calls them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void serve_only_the_program(const char* name) {
  if (gettid() == getpid()) return;
  (void)!write(STDERR_FILENO, name, strlen(name));
  (void)!write(STDERR_FILENO, " called on a thread that is not the program's\n", 46);
  _exit(99);
}

/* Defines NAME as the next library's, for the program alone. */
#define SERVE(type, name, parameters, arguments)                          \
  type name parameters {                                                  \
    static type(*next) parameters;                                        \
    serve_only_the_program(#name);                                        \
    if (next == NULL) next = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    return next arguments;                                                \
  }

SERVE(int, clock_gettime, (clockid_t clock, struct timespec* now), (clock, now))
SERVE(int, gettimeofday, (struct timeval* restrict now, void* restrict zone), (now, zone))
SERVE(time_t, time, (time_t * now), (now))
SERVE(int, nanosleep, (const struct timespec* pause, struct timespec* rest), (pause, rest))
SERVE(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec* pause, struct timespec* rest),
      (clock, flags, pause, rest))
SERVE(int, madvise, (void* start, size_t bytes, int advice), (start, bytes, advice))
SERVE(int, mprotect, (void* start, size_t bytes, int access), (start, bytes, access))
SERVE(int, munmap, (void* start, size_t bytes), (start, bytes))
SERVE(int, close, (int file), (file))
