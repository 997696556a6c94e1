// Memory for keys, passwords and the like, in the manner of the general pool: any size and alignment, any
// thread. It is wiped when it is freed, left out of core files, and read by no tool
// (docs/pools/sensitive.md).
//
//   char* key = static_cast<char*>(tarn::allocate_sensitive(32));
//   tarn::deallocate_sensitive(key);
//   std::vector<char, tarn::sensitive_allocator<char>> password;
//
// Every pool has the option `sensitive` too; this is a sensitive heap that the library makes at its first
// use. tarn::deallocate frees its blocks as well, and so does free where tarn takes malloc's place;
// tarn::reallocate keeps them in it.
// Threads: any. Errors: as tarn/memory_pool.h.
#pragma once
#include <cstddef>
#include <type_traits>

#include "tarn/detail/error.h"
#include "tarn/detail/source.h"
#include "tarn/detail/thread_cache.h"

namespace TARN_NAMESPACE {

/// \returns a block of at least `size` bytes; nullptr with errno ENOMEM when memory is refused.
/// \cost a call and a mutex.
[[nodiscard]] TARN_API void* allocate_sensitive(std::size_t size) noexcept;
/// \param alignment bytes, a power of two. \returns nullptr with errno EINVAL when it is not.
[[nodiscard]] TARN_API void* allocate_sensitive(std::size_t size, std::size_t alignment) noexcept;
/// Wipes and frees a block, from any thread; nullptr is ignored. A block from elsewhere stops the process.
/// \cost a call, a mutex, and a store to each of its bytes.
TARN_API void deallocate_sensitive(void* block) noexcept;

/// The same as a type, for the adapters: stateless; all its objects stand for the same memory.
struct SensitiveMemory {
  [[nodiscard]] TARN_LOCAL static void* allocate(std::size_t size) noexcept {
    return allocate_sensitive(size);
  }
  [[nodiscard]] TARN_LOCAL static void* allocate(std::size_t size, std::size_t alignment) noexcept {
    return allocate_sensitive(size, alignment);
  }
  TARN_LOCAL static void deallocate(void* block) noexcept { deallocate_sensitive(block); }
  TARN_LOCAL static void deallocate(void* block, std::size_t) noexcept { deallocate_sensitive(block); }
  TARN_LOCAL static void deallocate(void* block, std::size_t, std::size_t) noexcept {
    deallocate_sensitive(block);
  }
};

/// For containers. \why no string: a short one lies in the string object itself, which is not wiped; take a
/// vector of characters.
template <typename T>
class sensitive_allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  constexpr sensitive_allocator() noexcept = default;
  template <typename U>
  constexpr sensitive_allocator(const sensitive_allocator<U>&) noexcept {}

  [[nodiscard]] TARN_LOCAL T* allocate(std::size_t count) {
    void* const block = allocate_sensitive(detail::array_bytes<T>(count), alignof(T));
    return static_cast<T*>(detail::checked(block));
  }
  TARN_LOCAL void deallocate(T* block, std::size_t) noexcept { deallocate_sensitive(block); }

  template <typename U>
  constexpr bool operator==(const sensitive_allocator<U>&) const noexcept {
    return true;
  }
};

}  // namespace TARN_NAMESPACE
