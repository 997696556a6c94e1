// Marks for memory checkers, when the program runs under one. Memory that goes back to general use must carry
// no mark.
//
// The sanitizers' functions are weak; `begin_sanitizers` comes before every function of libc that a sanitizer
// replaces, as in each file that a compiler instruments. Valgrind's requests are instructions that do nothing
// on a CPU, so the library needs no separate build. Only programs compiled with TARN_VALGRIND make them,
// except unpoison, which also removes the marks of such a program.
#pragma once
#include <cstddef>

#if defined(_WIN32)
// The checkers that the library knows are those of Linux.
namespace tarn::internal::os {

enum class CheckedBlocks : unsigned char { kNone, kGeneral, kAll };
inline void poison(const void*, std::size_t) {}
inline void unpoison(const void*, std::size_t) {}
inline bool has_sanitizer() { return false; }
inline void begin_sanitizers() {}
inline bool is_on_valgrind() { return false; }
inline bool has_checker() { return false; }
inline CheckedBlocks checked_blocks() { return CheckedBlocks::kNone; }
inline bool valgrind_serves_malloc() { return false; }
inline bool has_leak_sanitizer() { return false; }
inline void note_roots_of_leaks(const void*, std::size_t) {}
inline void note_ordered_by_atomics(const void*, std::size_t) {}
inline void note_ordered_no_more(const void*, std::size_t) {}
inline void begin_checked_pool(const void*) {}
inline void end_checked_pool(const void*) {}
inline void note_pool_allocation(const void*, const void*, std::size_t) {}
inline void note_pool_resize(const void*, const void*, std::size_t) {}
inline void note_pool_free(const void*, const void*) {}

}  // namespace tarn::internal::os
#else
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* start, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* start, std::size_t bytes);
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __msan_init();
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __lsan_do_leak_check();
[[gnu::weak]] void __lsan_register_root_region(const void* start, std::size_t bytes);
}

namespace tarn::internal::os {

/// Marks bytes so that every access from now on is an error.
void poison(const void* start, std::size_t bytes);
/// Removes the mark: no access is an error, and the contents count as written.
void unpoison(const void* start, std::size_t bytes);

/// Whether a sanitizer is in the process that has shadows of memory.
inline bool has_sanitizer() {
  return &__asan_poison_memory_region != nullptr || &__tsan_init != nullptr || &__msan_init != nullptr;
}

/// Lets the sanitizers of the process begin, if none has done so: a shared library's constructors run before
/// those of the program, and a function that a sanitizer replaces may crash before.
void begin_sanitizers();

bool is_on_valgrind();
/// Whether a checker follows all threads and all memory: a thread that it does not know must not run.
bool has_checker();

/// What a checker in the process knows of blocks, if it knows those of malloc alone.
enum class CheckedBlocks : unsigned char {
  kNone,     // no checker, or one that does not care
  kGeneral,  // it understands marks of pools: LeakSanitizer, AddressSanitizer, memcheck
  kAll,      // ThreadSanitizer, Helgrind, DRD, Massif, DHAT
};
CheckedBlocks checked_blocks();
/// Whether malloc is Valgrind's, also where a symbol leads to another one.
bool valgrind_serves_malloc();

/// Whether LeakSanitizer is in the process, alone or with AddressSanitizer. It follows pointers through
/// malloc's blocks, globals and stacks.
inline bool has_leak_sanitizer() { return &__lsan_do_leak_check != nullptr; }
/// Lets LeakSanitizer follow pointers from there too, as far as it can be read when it looks.
inline void note_roots_of_leaks(const void* start, std::size_t bytes) {
  if (&__lsan_register_root_region != nullptr) __lsan_register_root_region(start, bytes);
}

/// Says to Helgrind and DRD that threads order their accesses there by atomic words, which they do not know;
/// that it is so no more.
void note_ordered_by_atomics(const void* start, std::size_t bytes);
void note_ordered_no_more(const void* start, std::size_t bytes);

/// Pools in memcheck, which records the stacks of allocation and free. `pool` is any address that belongs to
/// the pool.
void begin_checked_pool(const void* pool);
/// \post blocks that are still live are poisoned.
void end_checked_pool(const void* pool);
void note_pool_allocation(const void* pool, const void* block, std::size_t bytes);
void note_pool_resize(const void* pool, const void* block, std::size_t bytes);
/// \post the block's bytes are poisoned.
void note_pool_free(const void* pool, const void* block);

}  // namespace tarn::internal::os
#endif
