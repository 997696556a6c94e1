// Marks of memory checkers, where the program runs under one: memory that goes back to general use must carry
// none.
//
// AddressSanitizer's functions are weak. Valgrind's requests are an instruction sequence that does nothing
// elsewhere, so the library needs no build of its own; they are made only where a program was compiled with
// TARN_VALGRIND, but for unpoison, which takes back what such a program has marked.
#pragma once
#include <cstddef>

extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* start, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* start, std::size_t bytes);
}

namespace tarn::internal::os {

/// From now on every access is an error.
void poison(const void* start, std::size_t bytes);
/// From now on none is, and the contents count as written.
void unpoison(const void* start, std::size_t bytes);

/// memcheck's pools, which know the stacks of allocation and free. `pool` is any address that is the pool's
/// own.
void begin_checked_pool(const void* pool);
/// \post blocks that are still live are poisoned.
void end_checked_pool(const void* pool);
void note_pool_allocation(const void* pool, const void* block, std::size_t bytes);
void note_pool_resize(const void* pool, const void* block, std::size_t bytes);
/// \post the bytes that were noted are poisoned.
void note_pool_free(const void* pool, const void* block);

}  // namespace tarn::internal::os
