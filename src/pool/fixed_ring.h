// The ring of a fixed pool's chunks, and the walk around it.
//
// Invariant of the ring: slots are in the order of addresses; chunk.slot is the chunk's slot; a slot's bit in
// `usable` is one exactly when the chunk's summary has ones.
// Invariant of the walk: the inlined paths take blocks from the word that it stands on; while it stands
// nowhere, or has paused, from a word that is always 0.
// Threads: the pool's. make_room, insert and remove run under its `structure`, which observers of the ring
// take.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bitmap.h"
#include "pool/fixed_chunk.h"
#include "tarn/fixed_pool.h"

namespace tarn::internal {

class ChunkRing {
 public:
  std::uint32_t count() const { return count_; }
  PoolChunk& operator[](std::uint32_t slot) const { return *chunks_[slot]; }

  /// Makes room for `more` chunks. \returns false when memory is refused.
  bool make_room(std::uint32_t more = 1);
  /// \pre there is room.
  void insert(PoolChunk& chunk);
  /// The same for chunks that hang from the first by `next`. \why one by one each might move all others.
  void insert_all(PoolChunk* first);
  void remove(PoolChunk& chunk);
  /// Frees the ring's own memory. \pre the ring is empty.
  void end();

  /// Call when a chunk's summary has got ones; call when it has lost its ones.
  void note_usable(const PoolChunk& chunk) { bitmap::set(usable_, chunk.slot); }
  void note_taken(const PoolChunk& chunk) {
    if (!chunk.may_have_free()) bitmap::clear(usable_, chunk.slot);
  }
  /// \returns the first usable chunk at or after a slot, around the ring; nullptr if there is none.
  PoolChunk* next_usable(std::uint32_t from) const {
    const std::size_t slot = bitmap::find_one_around(usable_, from, count_);
    return slot != count_ ? chunks_[slot] : nullptr;
  }

  /// \returns the slot of the first chunk that begins behind an address; count() if there is none.
  std::uint32_t slot_behind(std::uintptr_t address) const;

  /// \returns the free blocks of all chunks. \cost a step per word.
  std::size_t free_count() const;

  void validate() const;

 private:
  void place(std::uint32_t slot, PoolChunk* chunk, bool is_usable);
  bool is_usable(std::uint32_t slot) const { return bitmap::test(usable_, slot); }

  PoolChunk** chunks_ = nullptr;
  std::uint64_t* usable_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t capacity_ = 0;
};

class ChunkWalk {
 public:
  ChunkWalk(ChunkRing& ring, detail::FixedPoolFront& front) : ring_(ring), front_(front) { stand_nowhere(); }

  /// Moves to the next word that may have ones. \returns false, standing nowhere, when there is none.
  bool advance() {
    PoolChunk* chunk = chunk_;
    std::uint32_t word = 0;
    if (chunk != nullptr) word = chunk->next_word(leave_word());
    if (chunk == nullptr || word == chunk->word_count) {
      chunk = ring_.next_usable(chunk == nullptr ? 0 : chunk->slot + 1);
      if (chunk == nullptr) {
        stand_nowhere();
        return false;
      }
      word = chunk->next_word(0);
    }
    stand_on(*chunk, word);
    return true;
  }

  void stand_on(PoolChunk& chunk, std::uint32_t word) {
    chunk_ = &chunk;
    word_ = word;
    front_.word = chunk.words() + word;
    front_.word_start = chunk.block(bitmap::index_of_bit(word, 0));
  }
  void stand_nowhere() {
    chunk_ = nullptr;
    front_.word = &no_free_bits;
  }
  /// Lets the inlined paths take no block of its word, until it goes on: with that word.
  void pause() {
    if (chunk_ != nullptr && !is_paused()) tidy_word();
    front_.word = &no_free_bits;
  }

  /// Whether the walk has paused, or stands nowhere.
  bool is_paused() const { return front_.word == &no_free_bits; }
  /// \returns the chunk that the walk stands in; nullptr: it stands nowhere.
  PoolChunk* chunk() const { return chunk_; }
  /// \returns the index of its first block there.
  BlockIndex first() const { return bitmap::index_of_bit(word_, 0); }

  void validate() const;

 private:
  static constinit std::uint64_t no_free_bits;

  // The inlined paths may have emptied the word without telling the summary.
  void tidy_word() {
    if (chunk_->words()[word_] != 0) return;
    chunk_->forget_word(word_);
    ring_.note_taken(*chunk_);
  }
  // \returns where the walk goes on.
  std::uint32_t leave_word() {
    if (is_paused()) return word_;
    tidy_word();
    return word_ + 1;
  }

  ChunkRing& ring_;
  detail::FixedPoolFront& front_;
  PoolChunk* chunk_ = nullptr;
  std::uint32_t word_ = 0;
};

}  // namespace tarn::internal
