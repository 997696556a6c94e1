#include "pool/thread_magazines.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <new>

#include "general/memory_limits.h"
#include "page/metadata.h"
#include "page/page_map.h"
#include "pool/watched_blocks.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

using detail::FixedPoolState;
using detail::ProgramGuard;

}  // namespace

ThreadMagazines::ThreadMagazines(FixedPoolState& pool, std::uint32_t slot)
    : pool_(pool),
      list_(slot, pool.number),
      limit_(static_cast<std::uint32_t>(
          std::clamp<std::size_t>(kMagazineBytes / pool.front->stride, 2, kMagazineBlocks))),
      moved_(limit_ / 2),
      reciprocal_(pool.front->reciprocal),
      spans_(page_map.first_table()) {}

ThreadMagazines* ThreadMagazines::make(FixedPoolState& pool) {
  void* const record = metadata.allocate(sizeof(ThreadMagazines));
  if (record == nullptr) return nullptr;
  const std::uint32_t slot = take_pool_slot();
  if (slot != PoolTable::kMostSlots) return new (record) ThreadMagazines(pool, slot);
  metadata.free(record, sizeof(ThreadMagazines));
  return nullptr;
}

void ThreadMagazines::end() {
  list_.end();
  metadata.free(this, sizeof(ThreadMagazines));
}

// \pre the magazine is the caller's, and has entries.
TARN_INLINE void* ThreadMagazines::take(Magazine& magazine) {
  const std::uint32_t rest = magazine.count.load(std::memory_order_relaxed) - 1;
  void* const block = magazine.entries[rest].block;
  std::uint8_t* const is_live = magazine.entries[rest].is_live;
  magazine.count.store(rest, std::memory_order_relaxed);
  __atomic_store_n(is_live, 1, __ATOMIC_RELAXED);
  return block;
}

// The same for several, with one store of the count. \returns how many.
TARN_INLINE std::size_t ThreadMagazines::take_several(Magazine& magazine, std::size_t count, void** blocks) {
  const std::uint32_t at_hand = magazine.count.load(std::memory_order_relaxed);
  const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(count, at_hand));
  magazine.count.store(at_hand - taken, std::memory_order_relaxed);
  const FreeEntry* entry = magazine.entries + at_hand;
  for (void** const end = blocks + taken; blocks != end; ++blocks) {
    --entry;
    *blocks = entry->block;
    __atomic_store_n(entry->is_live, 1, __ATOMIC_RELAXED);
  }
  return taken;
}

// \pre the magazine is the caller's, and has room. A fork may copy it at any moment.
TARN_INLINE void ThreadMagazines::put(Magazine& magazine, void* block, std::uint8_t* is_live) {
  const std::uint32_t count = magazine.count.load(std::memory_order_relaxed);
  magazine.entries[count].block = block;
  magazine.entries[count].is_live = is_live;
  magazine.count.store(count + 1, std::memory_order_release);
}

void* ThreadMagazines::allocate() {
  Magazine* const magazine = list_.of_this_thread();
  if (magazine != nullptr && magazine->lock.enter()) [[likely]] {
    void* const block = magazine->count.load(std::memory_order_relaxed) != 0 ? take(*magazine) : nullptr;
    magazine->lock.leave();
    if (block != nullptr) return block;
  }
  return allocate_slow(magazine);
}

std::size_t ThreadMagazines::allocate_batch(std::size_t count, void** blocks) {
  std::size_t taken = 0;
  while (taken < count) {
    Magazine* const magazine = list_.of_this_thread();
    if (magazine != nullptr && magazine->lock.enter()) [[likely]] {
      taken += take_several(*magazine, count - taken, blocks + taken);
      magazine->lock.leave();
    }
    if (taken == count) break;
    void* const block = allocate_slow(magazine);
    if (block == nullptr) break;
    blocks[taken++] = block;
  }
  return taken;
}

void* ThreadMagazines::allocate_slow(Magazine* magazine) {
  if (magazine == nullptr) attach_if_earned();
  void* const block = take_within_limits([&] { return take_or_gather(magazine); });
  if (block == nullptr) pool_.note_refusal();
  watched::note_allocated(pool_, block, pool_.front->stride);
  return block;
}

void* ThreadMagazines::take_or_gather(Magazine* magazine) {
  const ProgramGuard guard(pool_.mutex);
  if (magazine == nullptr) magazine = list_.make_of_this_thread();
  void* block = take_or_fill(magazine);
  if (block == nullptr && !is_scarce_) {
    visit_all();
    is_scarce_ = empty() < enough();
    leave_all();
    block = take_or_fill(magazine);
  }
  return block;
}

// \pre the pool's mutex is held.
void* ThreadMagazines::take_or_fill(Magazine* magazine) {
  if (is_scarce_ || magazine == nullptr) return take_one();
  return magazine->count != 0 || fill(*magazine) ? take(*magazine) : nullptr;
}

// \pre the pool's mutex is held.
void* ThreadMagazines::take_one() {
  FreeEntry entry{};
  const std::size_t capacity = pool_.capacity;
  if (take_from_depot(&entry, 1) == 0 && take_free_blocks(pool_, 1, 1, &entry) == 0) return nullptr;
  if (pool_.capacity != capacity) is_scarce_ = false;
  pool_.note_taken(1);
  __atomic_store_n(entry.is_live, 1, __ATOMIC_RELAXED);
  return entry.block;
}

// \pre the pool's mutex is held; the magazine is the caller's, and empty.
bool ThreadMagazines::fill(Magazine& magazine) {
  const std::uint32_t taken = take_from_depot(magazine.entries, moved_);
  magazine.count = taken != 0 ? taken : take_free_blocks(pool_, moved_, limit_, magazine.entries);
  pool_.note_taken(magazine.count);
  return magazine.count != 0;
}

// So many free blocks that each thread may have some at hand and another finds more; the depot holds them,
// and they are half of the pool at most.
std::uint32_t ThreadMagazines::enough() const {
  const std::uint32_t for_all = std::min(list_.count() + 1, kDepotMagazines) * moved_;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(pool_.capacity / 2, 1, for_all));
}

// \returns the chunk of a block, and the block's index in it. \param span nullptr: to be looked up. Stops the
// process when the pointer is no block of the pool.
TARN_INLINE const detail::SpanHead& ThreadMagazines::place_of(const detail::SpanHead* span, void* block,
                                                              std::uint64_t* index) const {
  if (span == nullptr) span = spans_.find(block);
  if (span == nullptr) [[unlikely]]
    span = page_map.find(block);
  if (span == nullptr || span->unmarked_pool() != &pool_) [[unlikely]]
    find_blocks(pool_, block, 1);
  if (!detail::find_in_span(*span, reciprocal_, block, index)) [[unlikely]]
    find_blocks(pool_, block, 1);
  return *span;
}

// \returns the byte of a block that was live until now. \param span nullptr: to be looked up. \pre the pool's
// mutex is held, or the thread is inside of its magazine's lock: so no chunk ends meanwhile.
template <ThreadMagazines::References kReferences>
TARN_INLINE std::uint8_t* ThreadMagazines::end_life(const detail::SpanHead* span, void* block) const {
  std::uint64_t index = 0;
  span = &place_of(span, block, &index);
  return end_life_at<kReferences>(*span, index, block);
}

template <ThreadMagazines::References kReferences>
TARN_INLINE std::uint8_t* ThreadMagazines::end_life_at(const detail::SpanHead& span, std::uint64_t index,
                                                       void* block) const {
  if constexpr (kReferences == References::kMustBeNone) stop_if_referred_to(pool_, span, index, block);
  std::uint8_t* const is_live = live_bytes(span) + index;
  if (__atomic_exchange_n(is_live, 0, __ATOMIC_RELAXED) == 0) [[unlikely]]
    pool_.stop("double free", block);
  return is_live;
}

/// Ends lives of blocks whose bytes lie side by side by one exchange for up to eight. Such blocks are often
/// freed in a row, as they were handed out.
class ThreadMagazines::LivesToEnd {
 public:
  explicit LivesToEnd(const FixedPoolState& pool) : pool_(pool) {}

  /// Another block. \param is_live its byte.
  TARN_INLINE void add(void* block, std::uint8_t* is_live) {
    const std::uintptr_t at = address_of(is_live) % sizeof(std::uint64_t);
    auto* const word = reinterpret_cast<std::uint64_t*>(is_live - at);
    const std::uint64_t life = std::uint64_t{1} << (at * CHAR_BIT);
    if (word != word_ || (lives_ & life) != 0) {
      end();
      word_ = word;
      lives_ = 0;
    }
    lives_ |= life;
    last_ = block;
  }
  /// Ends those that were added. Stops the process when one was not live: nothing is right from then on.
  TARN_INLINE void end() const {
    if (lives_ == 0) return;
    const std::uint64_t before = __atomic_fetch_sub(word_, lives_, __ATOMIC_RELAXED);
    if ((before & lives_) != lives_) [[unlikely]]
      stop(lives_ & ~before);
  }

 private:
  // \param ended the lives that had ended before.
  [[noreturn, gnu::cold, gnu::noinline]] void stop(std::uint64_t ended) const {
    const detail::SpanHead& span = *page_map.find(last_);
    const auto* const byte =
        reinterpret_cast<const std::uint8_t*>(word_) + std::countr_zero(ended) / CHAR_BIT;
    pool_.stop("double free", span.start + (byte - live_bytes(span)) * pool_.front->stride);
  }

  const FixedPoolState& pool_;
  std::uint64_t* word_ = nullptr;
  std::uint64_t lives_ = 0;  // a one in the byte of each block
  void* last_ = nullptr;
};

// Frees the first blocks, as many as the magazine has room for; nullptr is ignored. \returns how many of
// `count`. \pre the magazine is the caller's.
std::size_t ThreadMagazines::put_several(Magazine& magazine, void* const* blocks, std::size_t count) {
  const std::uint32_t before = magazine.count.load(std::memory_order_relaxed);
  FreeEntry* entry = magazine.entries + before;
  FreeEntry* const end = magazine.entries + limit_;
  LivesToEnd lives(pool_);
  const detail::SpanHead* span = nullptr;
  std::size_t freed = 0;
  for (; freed < count && entry != end; ++freed) {
    void* const block = blocks[freed];
    if (block == nullptr) continue;
    std::uint64_t index = 0;
    if (span == nullptr || !detail::find_in_span(*span, reciprocal_, block, &index))
      span = &place_of(nullptr, block, &index);
    *entry = {block, live_bytes(*span) + index};
    lives.add(block, entry->is_live);
    ++entry;
  }
  lives.end();
  // Entries are none before, so that a fork copies none that is live.
  magazine.count.store(static_cast<std::uint32_t>(entry - magazine.entries), std::memory_order_release);
  return freed;
}

// A block of a chunk that has a mark, or of none.
template <ThreadMagazines::References kReferences>
void ThreadMagazines::deallocate_marked(void* block) {
  watched::heed_at_free();
  watched::note_freed(block);
  deallocate_slow<kReferences>(list_.of_this_thread(), nullptr, block);
}

template <ThreadMagazines::References kReferences>
TARN_INLINE void ThreadMagazines::deallocate_with(const detail::SpanHead* span, void* block) {
  if (span == nullptr) span = spans_.find(block);
  std::uint64_t index = 0;
  if (span == nullptr || span->marked_pool() != &pool_ ||
      !detail::find_in_span(*span, reciprocal_, block, &index)) [[unlikely]]
    return deallocate_marked<kReferences>(block);
  Magazine* const magazine = list_.of_this_thread();
  if (magazine != nullptr && magazine->lock.enter()) [[likely]] {
    const bool has_room = magazine->count.load(std::memory_order_relaxed) != limit_ && !is_scarce_;
    if (has_room) [[likely]]
      put(*magazine, block, end_life_at<kReferences>(*span, index, block));
    magazine->lock.leave();
    if (has_room) [[likely]]
      return;
  }
  deallocate_slow<kReferences>(magazine, span, block);
}

void ThreadMagazines::deallocate(void* block) { deallocate_with<References::kNotCounted>(nullptr, block); }

void ThreadMagazines::deallocate_plain_buffer(const detail::SpanHead& span, void* block) {
  deallocate_with<References::kMustBeNone>(&span, block);
}

void ThreadMagazines::deallocate_shared_buffer(const detail::SpanHead& span, void* block) {
  deallocate_with<References::kNotCounted>(&span, block);
}

void ThreadMagazines::deallocate_batch(void* const* blocks, std::size_t count) {
  for (std::size_t i = 0; i < count;) {
    Magazine* const magazine = list_.of_this_thread();
    if (magazine != nullptr && !is_scarce_ && magazine->lock.enter()) [[likely]] {
      if (!is_scarce_) i += put_several(*magazine, blocks + i, count - i);
      magazine->lock.leave();
    }
    if (i == count) return;
    if (blocks[i] != nullptr) deallocate_slow<References::kNotCounted>(magazine, nullptr, blocks[i]);
    ++i;
  }
}

template <ThreadMagazines::References kReferences>
void ThreadMagazines::deallocate_slow(Magazine* magazine, const detail::SpanHead* span, void* block) {
  if (magazine == nullptr) attach_if_earned();
  watched::heed_at_free();
  const ProgramGuard guard(pool_.mutex);
  std::uint8_t* const is_live = end_life<kReferences>(span, block);
  if (magazine == nullptr) magazine = list_.make_of_this_thread();
  if (magazine == nullptr || is_scarce_) {
    const FreeEntry entry{block, is_live};
    keep_in_depot(&entry, 1);
    if (depot_count_ >= enough()) is_scarce_ = false;
    return;
  }
  if (magazine->count == limit_) {
    keep_in_depot(magazine->entries, moved_);
    std::copy(magazine->entries + moved_, magazine->entries + limit_, magazine->entries);
    magazine->count = limit_ - moved_;
  }
  put(*magazine, block, is_live);
}

// \pre the pool's mutex is held.
void ThreadMagazines::keep_in_depot(const FreeEntry* entries, std::uint32_t count) {
  pool_.note_given_back(count);
  if (depot_count_ + count > kDepotMagazines * limit_) {
    const std::uint32_t oldest = depot_count_ / 2;
    free_entries(pool_, depot_, oldest);
    std::copy(depot_ + oldest, depot_ + depot_count_, depot_);
    depot_count_ -= oldest;
  }
  std::copy(entries, entries + count, depot_ + depot_count_);
  depot_count_ += count;
}

// \pre the pool's mutex is held.
std::uint32_t ThreadMagazines::take_from_depot(FreeEntry* entries, std::uint32_t most) {
  const std::uint32_t taken = std::min<std::uint32_t>(depot_count_, most);
  depot_count_ -= taken;
  std::copy(depot_ + depot_count_, depot_ + depot_count_ + taken, entries);
  return taken;
}

std::size_t ThreadMagazines::count() const {
  std::size_t count = depot_count_;
  list_.for_each([&](const Magazine& magazine) { count += magazine.count.load(std::memory_order_relaxed); });
  return count;
}

std::size_t ThreadMagazines::empty() {
  const std::size_t moved = count();
  is_scarce_ = false;
  free_entries(pool_, depot_, depot_count_);
  depot_count_ = 0;
  list_.for_each([&](Magazine& magazine) {
    free_entries(pool_, magazine.entries, magazine.count);
    pool_.note_given_back(magazine.count);
    magazine.count = 0;
  });
  return moved;
}

void ThreadMagazines::validate() {
  std::size_t entries = 0;
  const auto check = [&](const FreeEntry* first, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const BlockRun run = find_blocks(pool_, first[i].block, 1);
      TARN_CHECK(first[i].is_live == live_bytes(*run.chunk->span) + number_of(run.first));
      TARN_CHECK(*first[i].is_live == 0 && !bitmap::test(run.chunk->words(), run.first));
    }
    entries += count;
  };
  TARN_CHECK(depot_count_ <= kDepotMagazines * limit_);
  check(depot_, depot_count_);
  list_.for_each([&](const Magazine& magazine) {
    TARN_CHECK(magazine.count <= limit_ && (!is_scarce_ || magazine.count == 0));
    check(magazine.entries, magazine.count);
  });
  std::size_t dead = 0, ones = 0;
  for (std::uint32_t slot = 0; slot < pool_.ring.count(); ++slot) {
    PoolChunk& chunk = pool_.ring[slot];
    for (BlockIndex i{0}; i != chunk.end(); ++i) {
      const bool is_one = bitmap::test(chunk.words(), i), is_live = chunk.is_live(i);
      TARN_CHECK(!(is_one && is_live));
      dead += is_live ? 0 : 1;
      ones += is_one ? 1 : 0;
    }
  }
  TARN_CHECK(dead == ones + entries);  // so that no entry is named twice
  TARN_CHECK(!pool_.counts_taken() || pool_.taken->count == pool_.capacity - ones - depot_count_);
}

void make_magazines(FixedPoolState& state) {
  const os::LockGuard registry(os::global_mutex<os::LockRank::kPoolRegistry>());
  const os::LockGuard guard(state.mutex);
  if (!state.may_have_magazines || state.magazines.load(std::memory_order_relaxed) != nullptr) return;
  if (state.walks != 0) return;
  ThreadMagazines* const magazines = ThreadMagazines::make(state);
  if (magazines == nullptr) return;
  begin_magazines(state);
  state.magazines.store(magazines, std::memory_order_release);
}

WholePoolGuard::WholePoolGuard(const detail::FixedPoolFront& front) {
  if (front.mutex == nullptr || os::is_only_thread()) return;
  pool_ = front.state;
  pool_->mutex.lock();
  magazines_ = pool_->magazines.load(std::memory_order_relaxed);
  if (magazines_ != nullptr) magazines_->visit_all();
}

WholePoolGuard::~WholePoolGuard() {
  if (pool_ == nullptr) return;
  if (magazines_ != nullptr) magazines_->leave_all();
  pool_->mutex.unlock();
}

}  // namespace tarn::internal
