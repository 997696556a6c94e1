// The wholly free chunks of a region, of which runs of more than a chunk are made: found in address order, at
// the same cost however many chunks are in use.
//
// Two levels of bits: one says of each chunk whether it is wholly free, one of each word of these whether it
// has ones.
// Threads: under the page cache's lock.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"

namespace tarn::internal {

/// Chunks side by side, by the number of the first.
struct ChunkRun {
  std::uint32_t first;
  std::uint32_t count;  // 0: there is none
};

class FreeChunks {
 public:
  /// \returns the bytes of memory that the bits of so many chunks take, in whole cache lines.
  static constexpr std::size_t bytes_for(std::uint32_t chunk_count) {
    const std::size_t words = bitmap::words_for(chunk_count);
    return round_up((words + bitmap::words_for(words)) * sizeof(std::uint64_t), kCacheLineBytes);
  }

  /// \pre `memory` has bytes_for(chunk_count) bytes, zeroed before the first call of assign().
  void use(void* memory, std::uint32_t chunk_count) {
    chunk_count_ = chunk_count;
    filled_ = static_cast<std::uint64_t*>(memory);
    free_ = filled_ + bitmap::words_for(bitmap::words_for(chunk_count));
  }

  std::size_t bytes() const { return bytes_for(chunk_count_); }

  void assign(std::uint32_t chunk, bool is_free) {
    bitmap::assign(free_, chunk, is_free);
    const std::uint32_t word = chunk / bitmap::kWordBits;
    bitmap::assign(filled_, word, free_[word] != 0);
  }

  bool is_free(std::uint32_t chunk) const { return bitmap::test(free_, std::size_t{chunk}); }

  /// \returns the first run that begins at chunk `from` or behind it. \pre from is 0 or the end of a run.
  /// \cost a step for each 64 chunks of the run, and one for each 4096 that are in use.
  ChunkRun next_run(std::uint32_t from) const {
    const std::size_t first = find_free(from);
    if (first == chunk_count_) return {chunk_count_, 0};
    const std::size_t end = bitmap::find_zero(free_, first, chunk_count_);
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
  }

 private:
  std::size_t find_free(std::size_t from) const {
    if (from >= chunk_count_) return chunk_count_;
    const std::size_t words = bitmap::words_for(chunk_count_), word = from / bitmap::kWordBits;
    const std::uint64_t rest = free_[word] & ~std::uint64_t{0} << from % bitmap::kWordBits;
    if (rest != 0) return word * bitmap::kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
    const std::size_t filled = bitmap::find_one(filled_, word + 1, words);
    if (filled == words) return chunk_count_;
    return filled * bitmap::kWordBits + static_cast<std::size_t>(std::countr_zero(free_[filled]));
  }

  std::uint32_t chunk_count_ = 0;
  std::uint64_t* free_ = nullptr;    // a bit for each chunk
  std::uint64_t* filled_ = nullptr;  // a bit for each word of free_
};

}  // namespace tarn::internal
