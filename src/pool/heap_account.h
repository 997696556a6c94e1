// Bytes that a heap is charged, with its limits: for live blocks, for the credits of its threads
// (heap_magazines.h), and for the heaps within it. Pages are counted so too.
//
// Invariant: charged == own + what the accounts within it are charged.
// Threads: under the heap's mutex; the account of a heap with heaps in it is charged by these too, without
// that mutex, so `charged` changes by atomic operations then. `own` always changes under the mutex.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"

namespace tarn::internal {

class HeapAccount {
 public:
  /// Once, before the first charge. \param around the account of the heap that this one lies in, or nullptr.
  void begin(HeapAccount* around) { around_ = around; }
  HeapAccount* around() const { return around_; }
  /// From now on others charge this account. \pre the heap's mutex is held.
  void share() { is_shared_ = true; }
  /// Neither in a heap nor with heaps in it: the mutex guards all changes.
  bool is_alone() const { return around_ == nullptr && !is_shared_; }

  void set_limits(std::size_t soft_limit, std::size_t hard_limit) {
    soft_limit_.store(soft_limit, std::memory_order_relaxed);
    hard_limit_.store(hard_limit, std::memory_order_relaxed);
    is_above_.store(charged() > soft_limit, std::memory_order_relaxed);
  }

  /// Charges the heap and all heaps around it, or none. \returns false when a hard limit would be exceeded.
  bool charge(std::size_t bytes) {
    if (!is_alone()) [[unlikely]]
      return charge_all(bytes);
    const std::size_t before = charged(), hard = hard_limit();
    if (before > hard || bytes > hard - before) return false;
    charged_.store(before + bytes, std::memory_order_relaxed);
    own_ += bytes;
    return true;
  }
  /// Call when there is a block for what was charged: it counts for the peak and the soft limit.
  void settle() {
    for (HeapAccount* account = this; account != nullptr; account = account->around_) account->settle_own();
  }
  void credit(std::size_t bytes) {
    own_ -= bytes;
    for (HeapAccount* account = this; account != nullptr; account = account->around_)
      account->subtract(bytes);
  }

  std::size_t charged() const { return charged_.load(std::memory_order_relaxed); }
  std::size_t own() const { return own_; }
  /// What the accounts within are charged; while they change, of no single moment.
  std::size_t inner() const {
    const std::size_t own = own_, charged = this->charged();
    return charged > own ? charged - own : 0;
  }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::size_t hard_limit() const { return hard_limit_.load(std::memory_order_relaxed); }

  /// \returns the bytes that may be charged until the next limit, of this heap or one around it.
  std::size_t room() const {
    std::size_t least = SIZE_MAX;
    for (const HeapAccount* account = this; account != nullptr; account = account->around_) {
      const std::size_t room = account->room_of_own();
      if (room < least) least = room;
    }
    return least;
  }
  /// The same until the next hard limit.
  std::size_t hard_room() const {
    std::size_t least = SIZE_MAX;
    for (const HeapAccount* account = this; account != nullptr; account = account->around_) {
      const std::size_t charged = account->charged(), hard = account->hard_limit();
      const std::size_t room = charged < hard ? hard - charged : 0;
      if (room < least) least = room;
    }
    return least;
  }
  /// \returns the lowest limit, of this heap or one around it.
  std::size_t least_limit() const {
    std::size_t least = SIZE_MAX;
    for (const HeapAccount* account = this; account != nullptr; account = account->around_)
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

  std::size_t room_of_own() const {
    const std::size_t charged = this->charged();
    std::size_t limit = hard_limit();
    if (charged <= soft_limit() && soft_limit() < limit) limit = soft_limit();
    return charged < limit ? limit - charged : 0;
  }

  [[gnu::noinline]] bool charge_all(std::size_t bytes) {
    for (HeapAccount* account = this; account != nullptr; account = account->around_) {
      if (account->add(bytes)) continue;
      for (HeapAccount* charged = this; charged != account; charged = charged->around_)
        charged->subtract(bytes);
      return false;
    }
    own_ += bytes;
    return true;
  }
  bool add(std::size_t bytes) {
    std::size_t before = charged();
    do {
      const std::size_t hard = hard_limit();
      if (before > hard || bytes > hard - before) return false;
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
    for (std::size_t peak = this->peak(); charged > peak;)
      if (peak_.compare_exchange_weak(peak, charged, std::memory_order_relaxed)) break;
    if (charged <= soft_limit() || is_above_.load(std::memory_order_relaxed)) return;
    if (!is_above_.exchange(true, std::memory_order_relaxed))
      has_crossed_.store(true, std::memory_order_relaxed);
  }

  std::atomic<std::size_t> charged_{0}, peak_{0};
  Relaxed<std::size_t> own_;
  std::atomic<std::size_t> soft_limit_{SIZE_MAX}, hard_limit_{SIZE_MAX};
  HeapAccount* around_ = nullptr;
  Relaxed<bool> is_shared_;            // others look without the mutex
  std::atomic<bool> is_above_{false};  // the soft limit
  std::atomic<bool> has_crossed_{false};
};

}  // namespace tarn::internal
