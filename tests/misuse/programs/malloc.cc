#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "misuse/misuse.h"
#include "tarn/testing.h"

// delete of what is no block.
MISUSE(delete_of_garbage) {
  char local[64] = "on the stack";
  must_die_with("free of a pointer that is no block", local);
  ::operator delete(opaque(static_cast<void*>(local)));
}

// The same block twice in a row: seen at once.
MISUSE(double_free) {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free(block);
  free(opaque(block));
}

// Two other blocks are freed in between: seen at once with check:1, else when the block reaches its slab.
MISUSE(double_free_after_others) {
  void* const block = opaque(malloc(100));
  void* const others[] = {malloc(100), malloc(100)};
  must_die_with("double free", block);
  free(block);
  free(others[0]);
  free(others[1]);
  free(opaque(block));
  free_many_others(100);
}

static void* free_it(void* block) {
  free(opaque(block));
  return nullptr;
}

static void free_in_another_thread(void* block) {
  pthread_t thread;
  pthread_create(&thread, nullptr, free_it, block);
  pthread_join(thread, nullptr);
}

// Two threads that own nothing free the same block.
MISUSE(double_free_by_two_threads) {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free_in_another_thread(block);
  free_in_another_thread(block);
  free_many_others(100);
}

// A second thread frees a block again that the first has freed.
MISUSE(double_free_in_another_thread) {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free(block);
  free_in_another_thread(block);
  free_many_others(100);
}

// A large block twice: its pages are nobody's any more.
MISUSE(double_free_large) {
  void* const block = opaque(malloc(3 << 20));
  must_die_with("free of a pointer that is no block", block);
  free(block);
  free(opaque(block));
}

// The address of a global variable.
MISUSE(free_global) {
  static char global[256];
  must_die_with("free of a pointer that is no block", global);
  free(opaque(&global[0]));
}

// A block whose address has got a high bit set, as by a tag that was forgotten: the free itself sees it.
MISUSE(free_high_bit) {
  void* const block = opaque(malloc(100));
  void* const wrong = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) | (UINT64_C(1) << 60));
  must_die_with("free of a pointer that is no block", wrong);
  free(opaque(wrong));
  puts("the free saw nothing");
}

// A pointer into a small block: seen at once with check:1, else when it reaches its slab.
MISUSE(free_interior) {
  char* const block = static_cast<char*>(opaque(malloc(100)));
  must_die_with("free of a pointer into a block", block + 16);
  free(opaque(block + 16));
  free_many_others(100);
}

// A pointer into a large block: seen at once.
MISUSE(free_large_interior) {
  char* const block = static_cast<char*>(opaque(malloc(3 << 20)));
  must_die_with("free of a pointer into a block", block + 4096);
  free(opaque(block + 4096));
}

// Memory the program has mapped itself.
MISUSE(free_mapped_memory) {
  void* const mapped = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must_die_with("free of a pointer that is no block", mapped);
  free(opaque(mapped));
}

// An address no program can have: seen at once, or when it reaches its slab.
MISUSE(free_non_canonical) {
  void* const address = reinterpret_cast<void*>(UINT64_C(0xdeadbeefdeadbeef));
  must_die_with("free of a pointer that is no block", address);
  free(opaque(address));
}

// A pointer one byte into a block.
MISUSE(free_odd_address) {
  char* const block = static_cast<char*>(opaque(malloc(2000)));
  must_die_with("free of a pointer into a block", block + 1);
  free(opaque(block + 1));
  free_many_others(2000);
}

// A small number instead of a pointer.
MISUSE(free_small_number) {
  void* const number = reinterpret_cast<void*>(8);
  must_die_with("free of a pointer that is no block", number);
  free(opaque(number));
}

// The address of a local variable.
MISUSE(free_stack_address) {
  char local[64] = "on the stack";
  free(malloc(100));
  must_die_with("free of a pointer that is no block", local);
  free(opaque(&local[0]));
}

// realloc of a block that has been freed; seen when the block is freed by it again.
MISUSE(realloc_freed) {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free(block);
  free(opaque(realloc(opaque(block), 5000)));
  free_many_others(100);
}

// A scope of a test looks at what is freed before the free is judged.
MISUSE(free_stack_address_in_a_test) {
  char local[64] = "on the stack";
  must_die_with("free of a pointer that is no block", local);
  TARN_EXPECT_PEAK_BELOW(1000) free(opaque(local));
}

MISUSE(double_free_in_a_test) {
  void* const block = opaque(malloc(100));
  must_die_with("double free", block);
  free(block);
  TARN_EXPECT_PEAK_BELOW(1000) free(opaque(block));
}

// Another thread than the one that began a scope of a test ends it.
MISUSE(end_of_a_test_in_another_thread) {
  static tarn::detail::ScopedCalls calls;
  must_die_with("end of a test's scope by another thread, or a second end of it", &calls);
  tarn::detail::begin_counting(calls);
  std::thread([] { tarn::detail::end_counting(calls); }).join();
}

// A scope of a test ends twice: within another one, and when none is left.
MISUSE(second_end_of_a_test) {
  static tarn::detail::ScopedCalls around, calls;
  must_die_with("end of a test's scope by another thread, or a second end of it", &calls);
  tarn::detail::begin_counting(around);
  tarn::detail::begin_counting(calls);
  tarn::detail::end_counting(calls);
  tarn::detail::end_counting(calls);
}

MISUSE(second_end_of_a_lone_test) {
  static tarn::detail::ScopedCalls calls;
  must_die_with("end of a test's scope by another thread, or a second end of it", &calls);
  tarn::detail::begin_counting(calls);
  tarn::detail::end_counting(calls);
  tarn::detail::end_counting(calls);
}

// realloc of what is no block.
MISUSE(realloc_garbage) {
  char local[64] = "on the stack";
  must_die_with("use of a pointer that is no block", local);
  opaque(realloc(opaque(&local[0]), 100));
}

// realloc of a block whose address has got a high bit set.
MISUSE(realloc_high_bit) {
  void* const block = opaque(malloc(100));
  void* const wrong = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) | (UINT64_C(1) << 57));
  must_die_with("use of a pointer that is no block", wrong);
  opaque(realloc(opaque(wrong), 50));
}

// realloc of a pointer into a block.
MISUSE(realloc_interior) {
  char* const block = static_cast<char*>(opaque(malloc(100)));
  must_die_with("use of a pointer into a block", block + 16);
  opaque(realloc(opaque(block + 16), 5000));
}

// realloc of a pointer into a large block.
MISUSE(realloc_large_interior) {
  char* const block = static_cast<char*>(opaque(malloc(3 << 20)));
  must_die_with("use of a pointer into a block", block + 4096);
  opaque(realloc(opaque(block + 4096), 5 << 20));
}

// malloc_usable_size of what is no block.
MISUSE(usable_size_of_garbage) {
  char local[64] = "on the stack";
  must_die_with("use of a pointer that is no block", local);
  opaque(malloc_usable_size(opaque(&local[0])));
}
