// The functions of tarn/tarn.h: each calls its C++ twin. They are defined only here, take the header's
// visibility and keep no state.
#include "tarn/memory_pool.h"
#include "tarn/tarn.h"

void* tarn_allocate(std::size_t size) noexcept { return tarn::allocate(size); }

void* tarn_allocate_aligned(std::size_t size, std::size_t alignment) noexcept {
  return tarn::allocate(size, alignment);
}

void* tarn_allocate_zeroed(std::size_t count, std::size_t size) noexcept {
  return tarn::allocate_zeroed(count, size);
}

void* tarn_reallocate(void* block, std::size_t size) noexcept { return tarn::reallocate(block, size); }

void tarn_deallocate(void* block) noexcept { tarn::deallocate(block); }

void tarn_deallocate_sized(void* block, std::size_t size) noexcept { tarn::deallocate(block, size); }

void tarn_deallocate_aligned_sized(void* block, std::size_t size, std::size_t alignment) noexcept {
  tarn::deallocate(block, size, alignment);
}

std::size_t tarn_usable_size(const void* block) noexcept { return tarn::usable_size(block); }

std::size_t tarn_good_size(std::size_t size) noexcept { return tarn::good_size(size); }

std::size_t tarn_trim(std::size_t keep) noexcept { return tarn::trim(keep); }

std::size_t tarn_allocate_batch(std::size_t size, std::size_t count, void** blocks) noexcept {
  return tarn::allocate_batch(size, count, blocks);
}

void tarn_deallocate_batch(void* const* blocks, std::size_t count) noexcept {
  tarn::deallocate_batch(blocks, count);
}

const char* tarn_version() noexcept { return TARN_VERSION_STRING; }
