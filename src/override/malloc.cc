// The C entry points of a drop-in malloc. malloc and free are the inlined fast path of tarn/memory_pool.h;
// all other functions are one step away from it. Each answers bad input as the standard says: nullptr and
// errno, never a wrong block. reallocarray is the C library's; it calls realloc through the symbol table,
// which finds the program's own or ours.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/units.h"
#include "os/process/process.h"
#include "tarn/detail/c_api.h"
#include "tarn/memory_pool.h"

// glibc's headers declare these so, and musl's do not.
#if defined(__GLIBC__)
#define TARN_LIBC_NOEXCEPT noexcept
#else
#define TARN_LIBC_NOEXCEPT
#endif

namespace {

std::size_t os_page_bytes() { return tarn::internal::os::page_bytes(); }

}  // namespace

TARN_C_API void* malloc(std::size_t size) TARN_LIBC_NOEXCEPT { return tarn::allocate(size); }

extern "C" [[gnu::visibility("hidden"), gnu::alias("malloc")]] void* tarn_own_malloc(std::size_t) noexcept;

// Whether malloc of the symbol table is ours (general/options/block_source.cc). Volatile, since the
// compiler takes both for the same function.
extern "C" [[gnu::visibility("hidden"), gnu::used]] bool tarn_serves_malloc() {
  void* (*volatile const called)(std::size_t) = &malloc;
  return called == &tarn_own_malloc;
}

TARN_C_API void free(void* block) TARN_LIBC_NOEXCEPT { tarn::deallocate(block); }

TARN_C_API void cfree(void* block) TARN_LIBC_NOEXCEPT { tarn::deallocate(block); }

TARN_C_API void free_sized(void* block, std::size_t) TARN_LIBC_NOEXCEPT { tarn::deallocate(block); }

TARN_C_API void free_aligned_sized(void* block, std::size_t, std::size_t) TARN_LIBC_NOEXCEPT {
  tarn::deallocate(block);
}

TARN_C_API void* calloc(std::size_t count, std::size_t size) TARN_LIBC_NOEXCEPT {
  return tarn::allocate_zeroed(count, size);
}

TARN_C_API void* realloc(void* block, std::size_t size) TARN_LIBC_NOEXCEPT {
  if (block != nullptr && size == 0) {  // frees, as glibc does
    tarn::deallocate(block);
    return nullptr;
  }
  return tarn::reallocate(block, size);
}

TARN_C_API int posix_memalign(void** result, std::size_t alignment, std::size_t size) TARN_LIBC_NOEXCEPT {
  if (alignment % sizeof(void*) != 0 || !tarn::internal::is_power_of_two(alignment)) return EINVAL;
  const int saved_errno = errno;
  void* const block = tarn::allocate(size, alignment);
  if (block == nullptr) {
    errno = saved_errno;
    return ENOMEM;
  }
  *result = block;
  return 0;
}

TARN_C_API void* aligned_alloc(std::size_t alignment, std::size_t size) TARN_LIBC_NOEXCEPT {
  return tarn::allocate(size, alignment);
}

// Rounds an alignment that is no power of two up, as glibc does.
TARN_C_API void* memalign(std::size_t alignment, std::size_t size) TARN_LIBC_NOEXCEPT {
  std::size_t power = 16;
  while (power < alignment && power << 1 != 0) power <<= 1;
  return tarn::allocate(size, power);
}

TARN_C_API void* valloc(std::size_t size) TARN_LIBC_NOEXCEPT { return tarn::allocate(size, os_page_bytes()); }

TARN_C_API void* pvalloc(std::size_t size) TARN_LIBC_NOEXCEPT {
  const std::size_t page = os_page_bytes();
  if (size > SIZE_MAX - page) {
    errno = ENOMEM;
    return nullptr;
  }
  return tarn::allocate(tarn::internal::round_up(size == 0 ? 1 : size, page), page);
}

TARN_C_API std::size_t malloc_usable_size(void* block) TARN_LIBC_NOEXCEPT { return tarn::usable_size(block); }

TARN_C_API int malloc_trim(std::size_t keep) TARN_LIBC_NOEXCEPT { return tarn::trim(keep) != 0; }
