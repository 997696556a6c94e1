// The memory of the handlers of one connection or strand: it learns which blocks they need, and keeps those.
//
//   struct Connection { tcp::socket socket; tarn::HandlerMemory memory; … };
//   socket.async_read_some(buffer, tarn::with_allocator(memory, [this](auto error, auto count) { … }));
//
// The idea: a connection has a few operations pending at once, and each new one needs a block of a size that
// an ended one had. So a block that comes back is kept for the next operation. There is no fixed number or
// size: as many blocks are kept as were live at once, and where all kept ones are too small, a larger block
// from the general pool takes the place of the smallest. Sizes only grow, so at some point all blocks are
// there, and the general pool is not called any more.
//
// Invariant: a block is kept only where kept and live blocks are fewer than the most that were live at once.
// A source of every adapter (allocator.h), not of Asio's only. Threads: any; a thread that finds another one
// inside does not wait, it uses the general pool. So a child of fork may use it too.
// Errors: nullptr with errno ENOMEM when memory is refused, EINVAL for an alignment that is no power of two.
// A block that is freed twice while it is kept, and a kept block that was written to, stop the process with
// one line.
#pragma once
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "tarn/detail/atomic.h"
#include "tarn/detail/error.h"
#include "tarn/detail/mutex.h"
#include "tarn/detail/outside_scopes.h"
#include "tarn/detail/record_seal.h"
#include "tarn/hooks.h"
#include "tarn/memory_pool.h"

namespace TARN_NAMESPACE {

class HandlerMemory {
 public:
  constexpr HandlerMemory() noexcept = default;  // takes no memory
  /// Gives the kept blocks back. \pre none is live, and no other thread uses the memory.
  TARN_LOCAL ~HandlerMemory() { release_unused(); }
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;
  template <std::same_as<HandlerMemory> Moved>
  HandlerMemory(Moved&&) noexcept {
    detail::stop_at_move<Moved>();
  }

  /// \param alignment bytes, a power of two; blocks aligned to more than 16 come from the general pool.
  /// \returns the smallest kept block with room for `bytes`; else one of the general pool. \cost a step per
  /// size of the kept blocks that is too small; an atomic exchange once the process has threads.
  [[nodiscard]] TARN_LOCAL void* allocate(std::size_t bytes, std::size_t alignment = 16) noexcept;
  /// \param bytes any; the memory knows the size. nullptr is ignored.
  TARN_LOCAL void deallocate(void* block, std::size_t bytes, std::size_t alignment = 16) noexcept;

  /// Gives the kept blocks back, and forgets how many blocks were live at once. \returns how many bytes; 0
  /// when another thread is inside.
  TARN_LOCAL std::size_t release_unused() noexcept;

  std::size_t live_count() const noexcept {
    return counted_inside_.load(detail::kRelaxed) + counted_outside_.load(detail::kRelaxed);
  }
  /// \returns how many blocks wait for the next operations. \pre no other thread uses the memory, as for
  /// kept_bytes().
  std::size_t kept_count() const noexcept { return kept_count_; }
  /// \returns their bytes. \cost a step per kept block.
  TARN_LOCAL std::size_t kept_bytes() const noexcept;

 private:
  /// Lies in a kept block. Blocks of one size hang from one of them, the one freed last behind the first. A
  /// live block has no seal.
  struct Kept {
    Kept* larger;
    Kept* same;
    std::size_t bytes;
    std::uint64_t seal;

    TARN_LOCAL bool is_sealed() const { return seal == right_seal(); }
    TARN_LOCAL std::uint64_t right_seal() const {
      return detail::seal_of(this, detail::word_of(larger), detail::word_of(same), bytes);
    }
  };
  /// Stops the process when a kept block was written to.
  TARN_LOCAL static Kept* checked(Kept* kept) {
    if (kept != nullptr && !kept->is_sealed()) [[unlikely]]
      detail::stop_at_overwritten(kept);
    return kept;
  }
  TARN_LOCAL static void set_larger(Kept& kept, Kept* larger) {
    kept.larger = larger;
    kept.seal = kept.right_seal();
  }
  TARN_LOCAL static void set_same(Kept& kept, Kept* same) {
    kept.same = same;
    kept.seal = kept.right_seal();
  }
  TARN_LOCAL static void unseal(void* block) {
    if (block != nullptr) static_cast<Kept*>(block)->seal = 0;
  }

  /// One thread at a time, and no waiting.
  class Visit {
   public:
    TARN_LOCAL explicit Visit(detail::Atomic<bool>& is_visited) : is_visited_(is_visited) {
      // In a child of fork the flag may be that of a thread which is not there.
      is_in_ = detail::ProgramGuard::is_needed() ? !is_visited_.exchange(true, detail::kAcquire)
                                                 : !is_visited_.load(detail::kRelaxed);
      is_shown_ = is_in_ && detail::ProgramGuard::is_needed();
    }
    TARN_LOCAL ~Visit() {
      if (is_shown_) is_visited_.store(false, detail::kRelease);
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    bool is_in() const { return is_in_; }

   private:
    detail::Atomic<bool>& is_visited_;
    bool is_in_ = false;
    bool is_shown_ = false;
  };

  /// \pre the thread is inside. \returns the live count with this change, of 1 or SIZE_MAX, which is -1.
  TARN_LOCAL std::size_t change_live_count(std::size_t by) {
    counted_inside_.store(counted_inside_.load(detail::kRelaxed) + by, detail::kRelaxed);
    return live_count();
  }
  static constexpr bool is_of_every_block(std::size_t alignment) {
    return alignment <= 16 && std::has_single_bit(alignment);
  }
  /// The first of a size, with the one of the next smaller size, nullptr for the smallest.
  struct Found {
    Kept* smaller;
    Kept* first;
  };
  TARN_LOCAL Found find_at_least(std::size_t bytes) const;
  /// What follows the kept blocks of a smaller size.
  TARN_LOCAL void link(Kept* smaller, Kept* first) {
    smaller != nullptr ? set_larger(*smaller, first) : void(smallest_ = first);
  }
  TARN_LOCAL Kept* take_at_least(std::size_t bytes);
  TARN_LOCAL void keep(void* block);
  static void* take_from_general_pool(std::size_t bytes, std::size_t alignment);

  Kept* smallest_ = nullptr;
  std::size_t kept_count_ = 0;
  std::size_t most_live_ = 0;
  // The live blocks are the sum, modulo 2^64: each call counts in one of the two.
  detail::Atomic<std::size_t> counted_inside_{0};
  detail::Atomic<std::size_t> counted_outside_{0};  // of threads that found another one inside
  detail::Atomic<bool> is_visited_{false};
};

inline void* HandlerMemory::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  void* block = nullptr;
  void* outgrown = nullptr;
  if (const Visit visit(is_visited_); visit.is_in()) {
    const std::size_t live = change_live_count(1);
    if (live > most_live_) most_live_ = live;
    if (is_of_every_block(alignment)) block = take_at_least(bytes);
    if (block == nullptr && kept_count_ + live > most_live_) outgrown = take_at_least(0);
  } else {
    counted_outside_.fetch_add(1, detail::kRelaxed);
  }
  if (block != nullptr) return block;
  tarn::deallocate(outgrown);
  block = take_from_general_pool(bytes, alignment);
  unseal(block);
  if (block == nullptr) counted_outside_.fetch_sub(1, detail::kRelaxed);
  return block;
}

inline void HandlerMemory::deallocate(void* block, std::size_t, std::size_t alignment) noexcept {
  if (block == nullptr) return;
  if (detail::begins_with_sealed_record(block)) [[unlikely]]
    detail::stop_at_record("double free", block);
  if (const Visit visit(is_visited_); visit.is_in()) {
    const std::size_t live = change_live_count(SIZE_MAX);
    if (is_of_every_block(alignment) && kept_count_ + live < most_live_) return keep(block);
  } else {
    counted_outside_.fetch_sub(1, detail::kRelaxed);
  }
  tarn::deallocate(block);
}

inline std::size_t HandlerMemory::release_unused() noexcept {
  Kept* next = nullptr;
  {
    const Visit visit(is_visited_);
    if (!visit.is_in()) return 0;
    next = smallest_;
    smallest_ = nullptr;
    kept_count_ = 0;
    most_live_ = live_count();
  }
  std::size_t bytes = 0;
  while (next != nullptr) {
    Kept* const block = checked(next);
    next = block->same != nullptr ? checked(block->same) : block->larger;
    if (block->same != nullptr) set_larger(*next, block->larger);
    bytes += block->bytes;
    detail::annotate_kept_no_more(block, block->bytes);
    unseal(block);
    tarn::deallocate(block);
  }
  return bytes;
}

inline std::size_t HandlerMemory::kept_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Kept* first = checked(smallest_); first != nullptr; first = checked(first->larger))
    for (const Kept* block = first; block != nullptr; block = checked(block->same)) bytes += block->bytes;
  return bytes;
}

inline HandlerMemory::Found HandlerMemory::find_at_least(std::size_t bytes) const {
  Found found{nullptr, checked(smallest_)};
  while (found.first != nullptr && found.first->bytes < bytes)
    found = {found.first, checked(found.first->larger)};
  return found;
}

/// \returns nullptr when all kept blocks are smaller.
inline HandlerMemory::Kept* HandlerMemory::take_at_least(std::size_t bytes) {
  const auto [smaller, first] = find_at_least(bytes);
  if (first == nullptr) return nullptr;
  Kept* const taken = first->same != nullptr ? checked(first->same) : first;
  if (taken != first) {
    set_same(*first, taken->same);
  } else {
    link(smaller, first->larger);
  }
  --kept_count_;
  detail::annotate_kept_no_more(taken, taken->bytes);
  unseal(taken);
  return taken;
}

inline void HandlerMemory::keep(void* block) {
  const std::size_t bytes = usable_size(block);
  const auto [smaller, first] = find_at_least(bytes);
  auto* const kept = static_cast<Kept*>(block);
  if (first != nullptr && first->bytes == bytes) {
    *kept = {nullptr, first->same, bytes, 0};
    set_same(*first, kept);
  } else {
    *kept = {first, nullptr, bytes, 0};
    link(smaller, kept);
  }
  kept->seal = kept->right_seal();
  ++kept_count_;
  detail::annotate_kept(kept + 1, bytes - sizeof(Kept));
}

/// \why not from the heap of a HeapScope: a kept block may outlive it.
inline void* HandlerMemory::take_from_general_pool(std::size_t bytes, std::size_t alignment) {
  const std::size_t size = bytes < sizeof(Kept) ? sizeof(Kept) : bytes;
  const detail::OutsideScopes outside;
  return is_of_every_block(alignment) ? tarn::allocate(size) : tarn::allocate(size, alignment);
}

}  // namespace TARN_NAMESPACE
