/* The general pool for C: any size, any power-of-two alignment, from any thread to any thread. The blocks are
 * those of tarn/memory_pool.h, so C and C++ may free each other's; only the inlined fast path is missing
 * here, each call is one.
 *
 * Sizes are in bytes. Blocks are aligned to 16 bytes, those of at most 8 bytes to 8. Every function may be
 * called from any thread at any time, also before main and while a thread ends, but not from a signal
 * handler.
 * Errors: allocation returns NULL and sets errno to ENOMEM when memory is refused, to EINVAL when an
 * alignment is not a power of two. A pointer that is no live block stops the process with one line
 * (docs/safety.md says when it is seen).
 *
 * Link libtarn_core for these functions alone, or libtarn, which has them and takes malloc's place too; never
 * both. */
#ifndef TARN_TARN_H
#define TARN_TARN_H

#include <stddef.h>

#include "tarn/detail/c_api.h"
#include "tarn/version.h"

#define TARN_C_BLOCK TARN_C_ATTRIBUTES(malloc, warn_unused_result)

/** \returns a block of at least `size` bytes, also for 0, contents undefined; NULL with errno ENOMEM.
 *  \cost a hit (up to 1 KiB) is two loads, a store and a compare behind the call. */
TARN_C_API void* tarn_allocate(size_t size) TARN_C_NOEXCEPT TARN_C_BLOCK;

/** The same at a multiple of `alignment` bytes, any power of two; `size` need not be a multiple of it.
 *  \returns NULL with errno EINVAL when `alignment` is no power of two. */
TARN_C_API void* tarn_allocate_aligned(size_t size, size_t alignment) TARN_C_NOEXCEPT TARN_C_BLOCK
    TARN_C_ATTRIBUTES(alloc_align(2));

/** \returns zeroed memory for `count` objects of `size` bytes; NULL with errno ENOMEM also when the product
 * overflows.
 * \cost blocks above 256 KiB that are fresh from the system are not cleared again. */
TARN_C_API void* tarn_allocate_zeroed(size_t count, size_t size) TARN_C_NOEXCEPT TARN_C_BLOCK;

/** Changes a block's size, in place where possible, and keeps the contents up to the smaller size. NULL is
 * allocated anew; size 0 leaves a block that is to be freed. An alignment above 16 bytes is not kept.
 * \returns the block, which may have moved; NULL with errno ENOMEM, and the old block stays as it was.
 * \cost blocks above 256 KiB are remapped where that spares the copy. */
TARN_C_API void* tarn_reallocate(void* block, size_t size) TARN_C_NOEXCEPT
    TARN_C_ATTRIBUTES(warn_unused_result);

/** Takes a block back, from whichever thread; NULL is ignored. */
TARN_C_API void tarn_deallocate(void* block) TARN_C_NOEXCEPT;

/** The same; the size is not needed. */
TARN_C_API void tarn_deallocate_sized(void* block, size_t size) TARN_C_NOEXCEPT;

/** The same; neither size nor alignment is needed. */
TARN_C_API void tarn_deallocate_aligned_sized(void* block, size_t size, size_t alignment) TARN_C_NOEXCEPT;

/** \returns how many bytes of a live block the caller may use, at least what was asked for; 0 for NULL. */
TARN_C_API size_t tarn_usable_size(const void* block) TARN_C_NOEXCEPT;

/** \returns how many bytes a request of `size` would be given; `size` itself when there is no such block.
 *  Some are given more, and tarn_usable_size tells: the first 8 of a size up to 1 KiB, some above 256 KiB;
 *  with the option guard some get what was asked for, and no more. */
TARN_C_API size_t tarn_good_size(size_t size) TARN_C_NOEXCEPT;

/** Gives free memory back to the system, all but `keep` bytes of it: cached blocks, empty slabs, free pages.
 *  \returns bytes given back.
 *  \cost system calls, and later page faults where the memory is needed again. */
TARN_C_API size_t tarn_trim(size_t keep) TARN_C_NOEXCEPT;

/** Fills `blocks` with `count` blocks of `size` bytes.
 *  \returns how many there are; fewer, with errno ENOMEM, only when memory is refused.
 *  \cost one lock per call, not per block, up to 256 KiB. */
TARN_C_API size_t tarn_allocate_batch(size_t size, size_t count, void** blocks) TARN_C_NOEXCEPT
    TARN_C_ATTRIBUTES(warn_unused_result);

/** Takes `count` blocks back, of any sizes; NULLs among them are ignored. */
TARN_C_API void tarn_deallocate_batch(void* const* blocks, size_t count) TARN_C_NOEXCEPT;

/** \returns the version of the library that runs, as "0.1.0"; constant. */
TARN_C_API const char* tarn_version(void) TARN_C_NOEXCEPT;

#undef TARN_C_BLOCK
#endif /* TARN_TARN_H */
