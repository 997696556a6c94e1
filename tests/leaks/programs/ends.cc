// Ways to end, with something lost or kept: the first argument says which.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#ifdef TARN_TEST_ARCHIVE
#include "observe/descriptor.h"
#else
#include "support/librarys_word.h"
#endif
#include "tarn/limits.h"

namespace {

/// A word of the library's own data that the library does not use.
void** librarys_word() {
#ifdef TARN_TEST_ARCHIVE
  const auto& descriptor = tarn::internal::tarn_observe_descriptor;
  const auto* const map = std::find_if(
      descriptor.roots, descriptor.roots + descriptor.root_count,
      [](const tarn::internal::ObservedRoot& root) { return std::strcmp(root.name, "page_map") == 0; });
  char* const end = static_cast<char*>(const_cast<void*>(map->address)) + map->bytes;
  return reinterpret_cast<void**>(end) - 64;  // of the last region that there could be
#else
  return tarn::test::librarys_word();
#endif
}

// Puts a block where only a register or nothing knows it.
[[gnu::noinline]] void lose(std::size_t bytes) {
  void* const block = std::malloc(bytes);
  asm volatile("" : : "r"(block) : "memory");
}

[[gnu::noinline]] void clear_stack() {
  char bytes[32 * 1024];
  std::memset(bytes, 0, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

void lose_some() {
  for (int i = 0; i < 100; ++i) lose(100);
  clear_stack();
}

void* freed_at_the_end;
void lose_what_was_kept() { freed_at_the_end = nullptr; }
void free_what_was_kept() { std::free(freed_at_the_end); }

/// Frees its block when static objects end.
struct Owner {
  void* block = nullptr;
  ~Owner() {
    std::free(block);
    block = nullptr;
  }
} owner;

void* map_page() {
  return mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

std::atomic<int> running{0};

// Has a pointer in its stack alone, and waits for ever.
void* wait_with_a_block(void* pipe_end) {
  char* volatile block = static_cast<char*>(std::malloc(500));
  *block = 0;
  running.fetch_add(1);
  static_cast<void>(read(*static_cast<int*>(pipe_end), block, 1));
  std::free(block);
  return nullptr;
}

// Allocates, moves pointers and frees for ever.
void* churn(void*) {
  void* blocks[64] = {};
  running.fetch_add(1);
  for (unsigned i = 0;; i = i * 1103515245 + 12345) {
    void*& block = blocks[i / 65536 % 64];
    std::free(block);
    block = std::malloc(i / 1024 % 2000);
  }
}

void start(void* (*run)(void*), void* argument, int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, argument) != 0) std::abort();
    pthread_detach(thread);
  }
  while (running.load() < count) std::this_thread::yield();
}

int tell_of_a_child_that_loses() {
  const pid_t child = fork();
  if (child == 0) return lose_some(), 0;
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WEXITSTATUS(status));
  return 0;
}

int run(std::string_view way) {
  static int ends[2];
  static void* page;
  if (way == "return") return lose_some(), 0;
  if (way == "status") return lose_some(), 7;
  if (way == "exit") lose_some(), std::exit(0);
  if (way == "_exit") lose_some(), _exit(0);
  if (way == "quick_exit") lose_some(), std::quick_exit(0);
  if (way == "thread") std::thread([] { lose_some(), std::exit(0); }).join();
  if (way == "atexit_loses") {
    freed_at_the_end = std::malloc(123);
    return std::atexit(lose_what_was_kept);
  }
  if (way == "atexit_frees") {
    freed_at_the_end = std::malloc(123);
    return std::atexit(free_what_was_kept);
  }
  if (way == "destructor_frees") {
    owner.block = std::malloc(123);
    return 0;
  }
  if (way == "mapped") {  // named by nothing but memory of the program's own
    page = map_page();
    static_cast<void**>(page)[100] = std::malloc(100);
    mprotect(page, 1 << 16, PROT_READ);
    return 0;
  }
  if (way == "only_in_the_librarys_data") {
    *librarys_word() = std::malloc(123);
    return clear_stack(), 0;
  }
  if (way == "context_of_a_callback") {
    tarn_set_limit_callback([](const tarn_limit_event*, void*) {}, std::malloc(123));
    return clear_stack(), 0;
  }
  if (way == "closed_page") {
    auto* const block = static_cast<char*>(std::aligned_alloc(4096, 16'384));
    freed_at_the_end = block;
    void* const behind = std::malloc(100);
    std::memcpy(block + 8192, &behind, sizeof behind);
    return mprotect(block + 4096, 4096, PROT_NONE);
  }
  if (way == "waiting_threads") {
    if (pipe(ends) != 0) return 1;
    start(wait_with_a_block, ends, 4);
    return 0;
  }
  if (way == "churning_threads") return start(churn, nullptr, 3), 0;
  if (way == "churning_threads_and_leaks") return start(churn, nullptr, 3), lose_some(), 0;
  if (way == "forked") return tell_of_a_child_that_loses();
  if (way == "forked_beside_threads") return start(churn, nullptr, 2), tell_of_a_child_that_loses();
  if (way == "privately_forked") {  // as most children end
    const pid_t child = fork();
    if (child == 0) lose_some(), _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  return 99;
}

}  // namespace

int main(int, char** words) { return run(words[1]); }
