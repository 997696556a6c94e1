/* A server for the tests of `tarn compare --load`: it answers each connection with a text and closes it. Its
   options make it misbehave in one way each.

   --port N            listens on 127.0.0.1; the default, 0, listens nowhere
   --ready-text TEXT   written to standard error when it listens
   --delay-ms N        before it listens
   --burn-ms N         uses so much CPU time before it listens
   --burn-each-ms N    and for each connection
   --keep-kib N        keeps so much more memory after each connection
   --answer TEXT       the answer
   --die-after N       aborts after N connections that asked something
   --exit-status N     when it is told to stop
   --fork-worker       another process answers
   --leave-child       starts a process that stays behind
   --ignore-term       does not stop on SIGTERM
   --daemonize         goes to the background before it listens */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int port, delay_ms, burn_ms, burn_each_ms, keep_kib, die_after = -1, exit_status;
static int is_forking, is_leaving_child, is_ignoring_term, is_daemon;
static pid_t worker;
static const char* answer = "hello\n";
static const char* ready_text = "";

struct number_option {
  const char* name;
  int* value;
};
static const struct number_option number_options[] = {
    {"--port", &port},
    {"--delay-ms", &delay_ms},
    {"--burn-ms", &burn_ms},
    {"--burn-each-ms", &burn_each_ms},
    {"--keep-kib", &keep_kib},
    {"--die-after", &die_after},
    {"--exit-status", &exit_status},
};
static const struct number_option flag_options[] = {
    {"--fork-worker", &is_forking},
    {"--leave-child", &is_leaving_child},
    {"--ignore-term", &is_ignoring_term},
    {"--daemonize", &is_daemon},
};

static void read_options(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    for (size_t k = 0; k < sizeof flag_options / sizeof *flag_options; ++k)
      if (strcmp(arguments[i], flag_options[k].name) == 0) *flag_options[k].value = 1;
    if (i + 1 == count) return;
    for (size_t k = 0; k < sizeof number_options / sizeof *number_options; ++k)
      if (strcmp(arguments[i], number_options[k].name) == 0)
        *number_options[k].value = atoi(arguments[i + 1]);
    if (strcmp(arguments[i], "--answer") == 0) answer = arguments[i + 1];
    if (strcmp(arguments[i], "--ready-text") == 0) ready_text = arguments[i + 1];
  }
}

static void burn(int milliseconds) {
  const clock_t start = clock();
  while ((clock() - start) * 1000 < (clock_t)milliseconds * CLOCKS_PER_SEC) {
  }
}

static void keep_memory(void) {
  if (keep_kib == 0) return;
  static char* volatile kept; /* or the compiler sees that nobody reads it */
  kept = malloc((size_t)keep_kib * 1024);
  if (kept != NULL) memset(kept, 1, (size_t)keep_kib * 1024);
}

static int listen_on_port(void) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 || listen(listener, 64) != 0) {
    perror("fake_server");
    exit(1);
  }
  return listener;
}

/* A connection that says nothing is one that looks whether the server is there. */
static void answer_all(int listener) {
  for (int asked = 0; asked != die_after;) {
    const int connection = accept(listener, NULL, NULL);
    char question;
    if (connection >= 0 && read(connection, &question, 1) == 1) {
      ++asked;
      burn(burn_each_ms);
      keep_memory();
      if (asked == die_after) break;
      if (write(connection, answer, strlen(answer)) < 0) perror("fake_server");
    }
    close(connection);
  }
  abort();
}

static void stop(int number) {
  (void)number;
  if (worker > 0) {
    kill(worker, SIGTERM);
    waitpid(worker, NULL, 0);
  }
  _exit(exit_status);
}

static void start_straggler(void) {
  if (fork() != 0) return;
  signal(SIGTERM, SIG_DFL);
  setsid();
  for (;;) pause();
}

int main(int count, char** arguments) {
  read_options(count, arguments);
  if (is_daemon && daemon(1, 1) != 0) return 1;
  signal(SIGTERM, is_ignoring_term ? SIG_IGN : stop);
  if (is_leaving_child) start_straggler();
  burn(burn_ms);
  usleep((unsigned)delay_ms * 1000);
  const int listener = port != 0 ? listen_on_port() : -1;
  fprintf(stderr, "%s\n", ready_text);
  if (is_forking) worker = fork();
  if (is_forking && worker == 0) {
    signal(SIGTERM, SIG_DFL);
    answer_all(listener);
  }
  if (is_forking || port == 0)
    for (;;) pause();
  answer_all(listener);
}
