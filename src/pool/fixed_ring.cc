#include "pool/fixed_ring.h"

#include <algorithm>
#include <cstring>

#include "os/fatal.h"
#include "page/metadata.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kFirstCapacity = 64;

std::size_t record_bytes(std::uint32_t capacity) {
  return capacity * sizeof(PoolChunk*) + bitmap::words_for(capacity) * sizeof(std::uint64_t);
}

}  // namespace

bool ChunkRing::make_room(std::uint32_t more) {
  if (more <= capacity_ - count_) return true;
  std::uint32_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
  while (more > capacity - count_) capacity *= 2;
  char* const record = static_cast<char*>(metadata.allocate(record_bytes(capacity)));
  if (record == nullptr) return false;
  std::memset(record, 0, record_bytes(capacity));
  auto** const chunks = reinterpret_cast<PoolChunk**>(record);
  auto* const usable = reinterpret_cast<std::uint64_t*>(record + capacity * sizeof(PoolChunk*));
  for (std::uint32_t i = 0; i < count_; ++i) chunks[i] = chunks_[i];
  for (std::size_t i = 0; i < bitmap::words_for(count_); ++i) usable[i] = usable_[i];
  end();
  chunks_ = chunks;
  usable_ = usable;
  capacity_ = capacity;
  return true;
}

void ChunkRing::end() {
  if (chunks_ != nullptr) metadata.free(chunks_, record_bytes(capacity_));
}

void ChunkRing::place(std::uint32_t slot, PoolChunk* chunk, bool is_usable) {
  chunks_[slot] = chunk;
  chunk->slot = slot;
  bitmap::assign(usable_, slot, is_usable);
}

void ChunkRing::insert(PoolChunk& chunk) {
  std::uint32_t slot = count_++;
  for (; slot > 0 && chunks_[slot - 1]->span->start > chunk.span->start; --slot)
    place(slot, chunks_[slot - 1], is_usable(slot - 1));
  place(slot, &chunk, chunk.may_have_free());
}

void ChunkRing::insert_all(PoolChunk* first) {
  for (PoolChunk* chunk = first; chunk != nullptr; chunk = chunk->next) chunks_[count_++] = chunk;
  std::sort(chunks_, chunks_ + count_,
            [](const PoolChunk* a, const PoolChunk* b) { return a->span->start < b->span->start; });
  for (std::uint32_t slot = 0; slot < count_; ++slot)
    place(slot, chunks_[slot], chunks_[slot]->may_have_free());
}

void ChunkRing::remove(PoolChunk& chunk) {
  for (std::uint32_t slot = chunk.slot; slot + 1 < count_; ++slot)
    place(slot, chunks_[slot + 1], is_usable(slot + 1));
  bitmap::clear(usable_, --count_);
}

std::uint32_t ChunkRing::slot_behind(std::uintptr_t address) const {
  std::uint32_t first = 0, end = count_;
  while (first != end) {
    const std::uint32_t middle = first + (end - first) / 2;
    if (address_of(chunks_[middle]->span->start) <= address) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

std::size_t ChunkRing::free_count() const {
  std::size_t count = 0;
  for (std::uint32_t slot = 0; slot < count_; ++slot) count += chunks_[slot]->free_count();
  return count;
}

void ChunkRing::validate() const {
  TARN_CHECK(count_ <= capacity_);
  for (std::uint32_t slot = 0; slot < count_; ++slot) {
    PoolChunk& chunk = *chunks_[slot];
    TARN_CHECK(chunk.slot == slot && is_usable(slot) == chunk.may_have_free());
    TARN_CHECK(slot == 0 || chunks_[slot - 1]->span->start < chunk.span->start);
  }
  TARN_CHECK(bitmap::find_one(usable_, count_, capacity_) == capacity_);
}

constinit std::uint64_t ChunkWalk::no_free_bits = 0;

void ChunkWalk::validate() const {
  TARN_CHECK(no_free_bits == 0);
  if (chunk_ == nullptr) return TARN_CHECK(is_paused());
  TARN_CHECK(chunk_ == &ring_[chunk_->slot] && word_ < chunk_->word_count);
  TARN_CHECK(is_paused() || front_.word == chunk_->words() + word_);
  TARN_CHECK(is_paused() || front_.word_start == chunk_->block(bitmap::index_of_bit(word_, 0)));
}

}  // namespace tarn::internal
