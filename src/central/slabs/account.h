// Bytes that a heap is charged, with its limits: for its blocks that are in no slab, because they are live
// or because threads have them cached, and for the heaps within it. Pages are counted so too.
//
// Invariant: charged == own + what the accounts within it are charged.
// Threads: one at a time; once it is shared, any.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "base/relaxed.h"

namespace tarn::internal {

class Account {
 public:
  /// Once, before the first charge. \param around the account of the heap that this one lies in, or nullptr.
  void begin(Account* around) { around_ = around; }
  /// From now on several charge this account at once: heaps within it, or the owner of the heap's slabs. \pre
  /// nobody does so yet.
  void share() { is_shared_ = true; }
  /// Neither in a heap nor shared.
  bool is_alone() const { return around_ == nullptr && !is_shared_; }

  void set_limits(std::size_t soft_limit, std::size_t hard_limit) {
    soft_limit_.store(soft_limit, std::memory_order_relaxed);
    hard_limit_.store(hard_limit, std::memory_order_relaxed);
    is_above_.store(charged() > soft_limit, std::memory_order_relaxed);
  }

  /// Which limits a charge may not exceed.
  enum class Below : std::uint8_t { kHardLimit, kNextLimit };

  /// Charges the heap and all heaps around it, or none. \returns false when a limit would be exceeded.
  bool charge(std::size_t bytes, Below below = Below::kHardLimit) {
    if (!is_alone()) [[unlikely]]
      return charge_all(bytes, below);
    const std::size_t before = charged(), limit = limit_at(before, below);
    if (before > limit || bytes > limit - before) return false;
    charged_.store(before + bytes, std::memory_order_relaxed);
    add_own(bytes);
    return true;
  }
  /// Charges as many blocks of `bytes` as it may, up to `count`. \param counts_each whether each call counts:
  /// else half of what is left below the next limit is for others, and no soft limit is crossed.
  /// \returns how many were charged.
  unsigned charge_some(unsigned count, std::size_t bytes, bool counts_each) {
    const std::size_t room = counts_each ? hard_room() : this->room();
    const std::size_t most = (counts_each ? room : room / 2) / bytes;
    if (most < count) count = most != 0 ? static_cast<unsigned>(most) : 1;
    if (bytes > room || !charge(count * bytes, counts_each ? Below::kHardLimit : Below::kNextLimit)) return 0;
    return count;
  }
  /// Call when there is a block for what was charged: it counts for the peak and the soft limit.
  void settle() {
    for (Account* account = this; account != nullptr; account = account->around_) account->settle_own();
  }
  void credit(std::size_t bytes) {
    add_own(std::size_t{0} - bytes);
    for (Account* account = this; account != nullptr; account = account->around_) account->subtract(bytes);
  }

  std::size_t charged() const { return charged_.load(std::memory_order_relaxed); }
  std::size_t own() const { return own_.load(std::memory_order_relaxed); }
  /// What the accounts within are charged; while they change, of no single moment.
  std::size_t inner() const {
    const std::size_t own = this->own(), charged = this->charged();
    return charged > own ? charged - own : 0;
  }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::size_t hard_limit() const { return hard_limit_.load(std::memory_order_relaxed); }

  /// \returns the bytes that may be charged until the next limit, of this heap or one around it.
  std::size_t room() const { return room_below(Below::kNextLimit); }
  /// The same until the next hard limit.
  std::size_t hard_room() const { return room_below(Below::kHardLimit); }
  /// \returns the lowest limit, of this heap or one around it.
  std::size_t least_limit() const {
    std::size_t least = SIZE_MAX;
    for (const Account* account = this; account != nullptr; account = account->around_)
      for (const std::size_t limit : {account->soft_limit(), account->hard_limit()})
        if (limit < least) least = limit;
    return least;
  }

  /// \returns whether settled charges have crossed the soft limit since the last call.
  bool take_crossing() {
    return has_crossed_.load(std::memory_order_relaxed) &&
           has_crossed_.exchange(false, std::memory_order_relaxed);
  }

 private:
  friend class ObservedLayout;

  std::size_t soft_limit() const { return soft_limit_.load(std::memory_order_relaxed); }

  std::size_t limit_at(std::size_t charged, Below below) const {
    const std::size_t soft = soft_limit(), hard = hard_limit();
    return below == Below::kNextLimit && charged <= soft && soft < hard ? soft : hard;
  }
  std::size_t room_below(Below below) const {
    std::size_t least = SIZE_MAX;
    for (const Account* account = this; account != nullptr; account = account->around_) {
      const std::size_t charged = account->charged(), limit = account->limit_at(charged, below);
      const std::size_t room = charged < limit ? limit - charged : 0;
      if (room < least) least = room;
    }
    return least;
  }

  [[gnu::noinline]] bool charge_all(std::size_t bytes, Below below) {
    for (Account* account = this; account != nullptr; account = account->around_) {
      if (account->add(bytes, below)) continue;
      for (Account* charged = this; charged != account; charged = charged->around_) charged->subtract(bytes);
      return false;
    }
    add_own(bytes);
    return true;
  }
  /// \param bytes modulo 2^64.
  void add_own(std::size_t bytes) {
    if (is_shared_) {
      own_.fetch_add(bytes, std::memory_order_relaxed);
    } else {
      own_.store(own() + bytes, std::memory_order_relaxed);
    }
  }
  bool add(std::size_t bytes, Below below) {
    std::size_t before = charged();
    do {
      const std::size_t limit = limit_at(before, below);
      if (before > limit || bytes > limit - before) return false;
    } while (!charged_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    return true;
  }
  void subtract(std::size_t bytes) {
    if (is_shared_) {
      charged_.fetch_sub(bytes, std::memory_order_relaxed);
    } else {
      charged_.store(charged() - bytes, std::memory_order_relaxed);
    }
    if (is_above_.load(std::memory_order_relaxed) && charged() <= soft_limit())
      is_above_.store(false, std::memory_order_relaxed);
  }
  void settle_own() {
    const std::size_t charged = this->charged();
    raise_peak(peak_, charged);
    if (charged <= soft_limit() || is_above_.load(std::memory_order_relaxed)) return;
    if (!is_above_.exchange(true, std::memory_order_relaxed))
      has_crossed_.store(true, std::memory_order_relaxed);
  }

  std::atomic<std::size_t> charged_{0}, peak_{0}, own_{0};
  std::atomic<std::size_t> soft_limit_{SIZE_MAX}, hard_limit_{SIZE_MAX};
  Account* around_ = nullptr;
  Relaxed<bool> is_shared_;            // others look without the mutex
  std::atomic<bool> is_above_{false};  // the soft limit
  std::atomic<bool> has_crossed_{false};
};

}  // namespace tarn::internal
