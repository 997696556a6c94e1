// What the hardened library (docs/safety.md) does beyond the plain one to a block of the general pool's
// classes, in hits and in slow calls alike.
//
// guard      the last eight bytes of a live block, made of two secret numbers and the block's address. A
//            block without it is free, begins elsewhere, or was written past its end; who reads one knows no
//            other.
// zeros      a free block has nothing else: one that has was written after it was freed.
// reserve    some slots of a magazine below its end. A freed block takes the place of one of them, drawn by
//            chance, which is then handed out next: so no block comes back at once, nor where it is guessed.
//
// Source of the three: hardened_malloc (canaries, zeros on free, slots by chance).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Bytes of each block that are the guard's.
inline constexpr std::size_t kGuardBytes = kIsHardened ? 8 : 0;

/// What a record has besides its magazine's end.
struct HardenedRecord {
  std::uintptr_t reserve;      // the distance from the cache to the first slot of the reserve
  std::uint32_t block_bytes;   // with the guard
  std::uint32_t reserve_mask;  // slots of the reserve, a power of two, less one
};
/// What the guards of a process are made of.
struct GuardKeys {
  std::uint64_t first, second;
};
/// What a thread's cache has.
struct HardenedCache {
  GuardKeys keys;
  std::uint64_t random;
};
template <typename Part>
struct Without {};
template <bool kHas, typename Part>
struct Choice {
  using Type = Part;
};
template <typename Part>
struct Choice<false, Part> {
  using Type = Without<Part>;
};

/// What is part of a record or cache in the hardened library only.
template <typename Part>
using IfHardened = typename Choice<kIsHardened, Part>::Type;

template <typename Part>
TARN_INLINE Part& part_in(Part& part) {
  return part;
}
template <typename Part>
TARN_INLINE Part& part_in(Without<Part>&) {
  unreachable();
}

/// Say what is wrong with the block, and stop the process unless the option at_misuse lets it go on.
TARN_COLD TARN_API void note_written_block(void* block) noexcept;
TARN_COLD TARN_API void note_bad_free(void* block) noexcept;

/// Calls at(offset) for sixteen bytes each, four at a time, so that all of `bytes` are met; some twice.
/// \why few branches: the sizes of most programs follow no pattern.
template <typename At>
TARN_INLINE void for_each_sixteen(std::size_t bytes, const At& at) {
  constexpr std::size_t kStep = 4 * sizeof(Sixteen);
  std::size_t offset = 0;
  for (; offset + kStep < bytes; offset += kStep)
    at(offset), at(offset + 16), at(offset + 32), at(offset + 48);
  const std::size_t last = bytes - sizeof(Sixteen);
  const auto at_most_last = [&](std::size_t part) { at(part < last ? part : last); };
  at_most_last(offset), at_most_last(offset + 16), at_most_last(offset + 32), at(last);
}
/// \pre bytes is a multiple of 16, for both.
TARN_INLINE bool is_zero(const void* block, std::size_t bytes) {
  if (bytes == 0) return true;
  const auto* const parts = static_cast<const Sixteen*>(block);
  Sixteen seen{};
  for_each_sixteen(bytes, [&](std::size_t at) { seen |= parts[at / sizeof(Sixteen)]; });
  return (seen[0] | seen[1]) == 0;
}
TARN_INLINE void make_zero(void* block, std::size_t bytes) {
  constexpr std::size_t kWorthACall = 512;
  if (bytes > kWorthACall) {
    std::memset(block, 0, bytes);
    return;
  }
  auto* const parts = static_cast<Sixteen*>(block);
  for_each_sixteen(bytes, [&](std::size_t at) {
    parts[at / sizeof(Sixteen)] = Sixteen{};
    keep_loop();
  });
}

/// \returns what is not 0, as the guard of a free block is.
TARN_INLINE std::uint64_t guard_of(const void* block, const GuardKeys& keys) {
  const Product product = product_of(reinterpret_cast<std::uintptr_t>(block) ^ keys.first, keys.second);
  return (product.low ^ product.high) | 1;
}
TARN_INLINE char* place_of_guard(void* block, std::size_t block_bytes) {
  return static_cast<char*>(block) + block_bytes - kGuardBytes;
}

/// Call when a block is handed out. \returns false where it was written since it was freed. \why the guard
/// first: a read of a page never written makes the system map zeros, and the write is a second fault.
TARN_INLINE bool begin_guarded(void* block, std::size_t block_bytes, const GuardKeys& keys) {
  const std::uint64_t guard = guard_of(block, keys);
  char* const place = place_of_guard(block, block_bytes);
  std::memcpy(place, &guard, sizeof guard);
  signal_fence();
  std::uint64_t before = 0;
  std::memcpy(&before, place - sizeof before, sizeof before);
  if (before != 0 || !is_zero(block, block_bytes - sizeof(Sixteen))) [[unlikely]]
    return note_written_block(block), false;
  return true;
}
/// \returns whether a live block begins at an address. \pre so many bytes from there on can be read.
TARN_INLINE bool has_guard(void* block, std::size_t block_bytes, const GuardKeys& keys) {
  std::uint64_t guard = 0;
  std::memcpy(&guard, place_of_guard(block, block_bytes), sizeof guard);
  return guard == guard_of(block, keys);
}
/// Call when a block comes back. \pre as has_guard(). \returns false where it is none that may.
TARN_INLINE bool end_guarded(void* block, std::size_t block_bytes, const GuardKeys& keys) {
  if (!has_guard(block, block_bytes, keys)) [[unlikely]]
    return note_bad_free(block), false;
  make_zero(block, block_bytes);
  return true;
}

/// \returns 32 bits, the high ones of Knuth's linear congruential generator of MMIX: the low ones repeat
/// soon.
TARN_INLINE std::uint32_t next_random(HardenedCache& cache) {
  cache.random = cache.random * 6364136223846793005u + 1442695040888963407u;
  return static_cast<std::uint32_t>(cache.random >> 32);
}

}  // namespace TARN_NAMESPACE::detail
