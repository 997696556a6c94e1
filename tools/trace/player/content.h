// What is written to blocks. A program writes what it asks for, so each page of a block becomes resident:
// the first and the last word are a stamp of the block's own, and of each page between one byte is written.
// Blocks of calloc are written too: most are, and which are not the trace does not tell.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tarn::trace::player {

inline std::uint64_t stamp_of(std::uint32_t slot) { return (slot + 1) * 0x9e3779b97f4a7c15ull; }

/// A block is stamped where it has room for a word.
inline void write_content(void* block, std::size_t size, std::uint32_t slot, std::size_t page_bytes) {
  auto* const bytes = static_cast<unsigned char*>(block);
  const std::uint64_t stamp = stamp_of(slot);
  if (size < sizeof(stamp)) {
    std::memset(bytes, static_cast<int>(stamp & 0xff), size);
    return;
  }
  for (std::size_t at = page_bytes; at + sizeof(stamp) < size; at += page_bytes) bytes[at] = 1;
  std::memcpy(bytes, &stamp, sizeof(stamp));
  std::memcpy(bytes + size - sizeof(stamp), &stamp, sizeof(stamp));
}

/// Whether the first word is still there, and the last if `size` is what was written.
inline bool is_content_kept(const void* block, std::size_t size, std::uint32_t slot) {
  const std::uint64_t stamp = stamp_of(slot);
  if (size < sizeof(stamp)) return size == 0 || *static_cast<const unsigned char*>(block) == (stamp & 0xff);
  return std::memcmp(block, &stamp, sizeof(stamp)) == 0 &&
         std::memcmp(static_cast<const char*>(block) + size - sizeof(stamp), &stamp, sizeof(stamp)) == 0;
}

inline bool is_beginning_kept(const void* block, std::size_t size, std::uint32_t slot) {
  return size < sizeof(std::uint64_t) || is_content_kept(block, sizeof(std::uint64_t), slot);
}

}  // namespace tarn::trace::player
