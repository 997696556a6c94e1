// Live bytes: where live blocks begin, in the plain library. The hardened one has guards (hardening.h).
//
// window      2^shift bytes of addresses, at most 512, and as many as fit into the distance of two blocks of
//             a class: so at most one block of the class begins in it.
// live byte   of a window: 0, or made of the address of the live block that begins there. Set when a block
//             is handed out; tested and set to 0 when it comes back, in hits and in slow calls.
// live word   of a class: the byte of a window is at word + (address >> shift); the word's low six bits are
//             the shift. 0: the class has no live bytes (page/spans/live_map.h says which have).
//
// A block's address is a multiple of 8, so its place in its window has six bits, which the byte tells. Of a
// pointer that is no multiple of 8, the mark is no byte's. So no pointer into a block is taken for its start.
//
// Threads: a live byte belongs to who has the block, or takes it. A word is read by all, and is 0 from some
// moment on; before that no block lies where the word does not lead to.
// Source of a byte beside the heap: the shadow of memory checkers; packed by class: ours.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Of a class, as far from the first one as the class's record is in a cache.
struct alignas(16) LiveWord {
  std::uintptr_t word;
};

/// \returns the byte of a live block, which is not 0.
TARN_INLINE unsigned char live_byte_of(const void* block) {
  return static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(block) >> 3 | 0x80);
}
/// \returns the same of any address: of one that is no multiple of 8 more than a byte.
TARN_INLINE std::uint32_t live_mark_of(const void* block) {
  const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block)) << (32 - 10);
  return low << 7 | low >> (32 - 7) | 0x80;
}

/// \returns where the byte of an address is. \pre the word is not 0.
TARN_INLINE unsigned char* live_byte_at(std::uintptr_t word, const void* block) {
  return reinterpret_cast<unsigned char*>(word + (reinterpret_cast<std::uintptr_t>(block) >> (word & 63)));
}

/// Call when a block is handed out.
TARN_INLINE void begin_live(std::uintptr_t word, const void* block) {
  if (word != 0) [[likely]]
    atomic_store(live_byte_at(word, block), live_byte_of(block), kRelaxed);
}
/// \returns whether a live block begins at an address, as far as the class can tell.
TARN_INLINE bool is_live(std::uintptr_t word, const void* block) {
  return word == 0 || atomic_load(live_byte_at(word, block), kRelaxed) == live_mark_of(block);
}
/// Call when a block comes back. \returns false when no live block begins there.
TARN_INLINE bool end_live(std::uintptr_t word, const void* block) {
  if (word == 0) [[unlikely]]
    return true;
  unsigned char* const byte = live_byte_at(word, block);
  if (atomic_load(byte, kRelaxed) != live_mark_of(block)) [[unlikely]]
    return false;
  atomic_store(byte, static_cast<unsigned char>(0), kRelaxed);
  return true;
}

}  // namespace TARN_NAMESPACE::detail
