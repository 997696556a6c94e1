// A bounded queue from one thread to one other. Slots are filled and read in place: a slot belongs to the
// producer until it is published and to the consumer until it is released.
//
// Invariant: released <= published <= released + Capacity; both only grow.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>

namespace tarn::bench {

template <class T, std::size_t Capacity>
class SpscRing {
  static_assert((Capacity & (Capacity - 1)) == 0, "the position of a slot is its number modulo the capacity");

 public:
  /// The next slot to fill, or nullptr while the ring is full.
  T* free_slot() {
    const std::size_t number = published_.load(std::memory_order_relaxed);
    if (number - known_released_ == Capacity) {
      known_released_ = released_.load(std::memory_order_acquire);
      if (number - known_released_ == Capacity) return nullptr;
    }
    return &slots_[number % Capacity];
  }
  void publish() {
    published_.store(published_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// The oldest published slot, or nullptr while the ring is empty.
  T* full_slot() {
    const std::size_t number = released_.load(std::memory_order_relaxed);
    if (number == known_published_) {
      known_published_ = published_.load(std::memory_order_acquire);
      if (number == known_published_) return nullptr;
    }
    return &slots_[number % Capacity];
  }
  void release() {
    released_.store(released_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  alignas(64) std::atomic<std::size_t> published_{0};
  std::size_t known_released_ = 0;  // of the producer
  alignas(64) std::atomic<std::size_t> released_{0};
  std::size_t known_published_ = 0;  // of the consumer
  alignas(64) std::array<T, Capacity> slots_{};
};

}  // namespace tarn::bench
