#include "os/checker.h"

namespace tarn::internal::os {
namespace {

// Codes of Valgrind's interface to programs; Valgrind does not change them.
enum Request : unsigned long {
  kRunningOnValgrind = 0x1001,
  kCreatePool = 0x1303,
  kDestroyPool = 0x1304,
  kPoolAllocation = 0x1305,
  kPoolFree = 0x1306,
  kPoolChange = 0x1309,
  kMakeInaccessible = 0x4d430000,
  kMakeDefined = 0x4d430002,
  kReadMarks = 0x4d430008,  // memcheck alone answers
  kIgnoreInDrd = 0x44520002,
  kCheckInDrd = 0x44520003,
  kIgnoreInHelgrind = 0x48470127,
  kCheckInHelgrind = 0x48470128,
};
constexpr unsigned long kBlocksLieInOthers = 2;  // a pool's blocks may be parts of malloc blocks

unsigned long word_of(const void* pointer) { return reinterpret_cast<unsigned long>(pointer); }

// Rotations that cancel out, then a register moved to itself: a call for Valgrind, nothing for a CPU.
// \returns 0 where nobody answers.
unsigned long ask(Request request, unsigned long first = 0, unsigned long second = 0, unsigned long third = 0,
                  unsigned long fourth = 0) {
  const volatile unsigned long arguments[6] = {request, first, second, third, fourth, 0};
#if defined(__x86_64__)
  unsigned long answer = 0;
  asm volatile("rol $3, %%rdi; rol $13, %%rdi; rol $61, %%rdi; rol $51, %%rdi; xchg %%rbx, %%rbx"
               : "+d"(answer)
               : "a"(arguments)
               : "cc", "memory");
  return answer;
#elif defined(__aarch64__)
  register unsigned long answer asm("x3") = 0;
  register const volatile unsigned long* const words asm("x4") = arguments;
  asm volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61; orr x10, x10, x10"
               : "+r"(answer)
               : "r"(words)
               : "cc", "memory");
  return answer;
#else
  return static_cast<void>(arguments), 0;
#endif
}

bool is_memcheck() {
  const char none = 0;
  return ask(kReadMarks, word_of(&none), word_of(&none), 0) != 0;
}

}  // namespace

void begin_sanitizers() {
  if (&__asan_init != nullptr) __asan_init();
  if (&__msan_init != nullptr) __msan_init();
  if (&__tsan_init != nullptr) __tsan_init();
}

bool is_on_valgrind() { return ask(kRunningOnValgrind) != 0; }

bool has_checker() {
  return &__asan_init != nullptr || &__msan_init != nullptr || &__tsan_init != nullptr || is_on_valgrind();
}

CheckedBlocks checked_blocks() {
  if (&__tsan_init != nullptr) return CheckedBlocks::kAll;
  if (has_leak_sanitizer()) return CheckedBlocks::kGeneral;
  if (!valgrind_serves_malloc()) return CheckedBlocks::kNone;
  return is_memcheck() ? CheckedBlocks::kGeneral : CheckedBlocks::kAll;
}

void poison(const void* start, std::size_t bytes) {
  if (__asan_poison_memory_region != nullptr) return __asan_poison_memory_region(start, bytes);
  ask(kMakeInaccessible, word_of(start), bytes);
}

void unpoison(const void* start, std::size_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) return __asan_unpoison_memory_region(start, bytes);
  ask(kMakeDefined, word_of(start), bytes);
}

void note_ordered_by_atomics(const void* start, std::size_t bytes) {
  ask(kIgnoreInDrd, word_of(start), bytes);
  ask(kIgnoreInHelgrind, word_of(start), bytes);
}

void note_ordered_no_more(const void* start, std::size_t bytes) {
  ask(kCheckInDrd, word_of(start), bytes);
  ask(kCheckInHelgrind, word_of(start), bytes);
}

void begin_checked_pool(const void* pool) { ask(kCreatePool, word_of(pool), 0, 0, kBlocksLieInOthers); }

void end_checked_pool(const void* pool) { ask(kDestroyPool, word_of(pool), 0); }

void note_pool_allocation(const void* pool, const void* block, std::size_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) return __asan_unpoison_memory_region(block, bytes);
  ask(kPoolAllocation, word_of(pool), word_of(block), bytes);
}

void note_pool_resize(const void* pool, const void* block, std::size_t bytes) {
  ask(kPoolChange, word_of(pool), word_of(block), word_of(block), bytes);
}

void note_pool_free(const void* pool, const void* block) { ask(kPoolFree, word_of(pool), word_of(block)); }

}  // namespace tarn::internal::os
